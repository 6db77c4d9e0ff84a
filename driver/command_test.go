package driver

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/profiler"
)

func TestParseCommand(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]virtual{
		"set 40":         {request: executor.Request{Command: executor.CommandSet, Percent: 40}},
		"set 40% mem_bw": {request: executor.Request{Command: executor.CommandSet, Percent: 40, Source: "mem_bw"}},
		"add -10":        {request: executor.Request{Command: executor.CommandAdd, Percent: -10}},
		"pause":          {request: executor.Request{Command: executor.CommandPause}},
		"ramp 0 100% 12.5 2s int": {request: executor.Request{Command: executor.CommandRamp, Source: "int", Ramp: &executor.Ramp{
			ToPercent: 100, StepPercent: 12.5, Dwell: 2 * time.Second,
		}}},
		"resume int":         {request: executor.Request{Command: executor.CommandResume, Source: "int"}},
		"stats -json mem_bw": {request: executor.Request{Command: executor.CommandStats, Source: "mem_bw"}, json: true},
		"help":               {request: executor.Request{Command: "help"}, help: true},
		"":                   {help: true},
	} {
		got, err := parseCommand(strings.Fields(words))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", words, got, err, want)
		}
	}
	for words, want := range map[string]string{
		"set":                 "percentage",
		"set 101":             "0 to 100",
		"set -1":              "0 to 100",
		"set NaN":             "percentage",
		"set much":            "percentage",
		"add 101":             "-100 to 100",
		"stat":                `did you mean "stats"`,
		"sh -c id":            "unknown command",
		"pause mem_bv":        `did you mean "mem_bw"`,
		"set 4 int extra":     "too many arguments",
		"ramp":                "FROM TO STEP DWELL",
		"ramp 0 50 10":        "FROM TO STEP DWELL",
		"ramp 0 130 10 1s":    "0 to 100",
		"ramp 0 50 0 1s":      "step",
		"ramp 0 50 0.001 1s":  "step",
		"ramp 0 50 10 2":      "not a duration",
		"ramp 0 50 10 0s":     "time at each level",
		"ramp 0 50 10 1s a b": "too many arguments",
	} {
		if _, err := parseCommand(strings.Fields(words)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v does not say %q", words, err, want)
		}
	}
}

func TestParseSignal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]executor.Request{
		"SIGUSR1":   {Command: executor.CommandAdd, Percent: 10},
		"sigusr2":   {Command: executor.CommandAdd, Percent: -10},
		"SIGSTOP":   {Command: executor.CommandPause},
		"CONT":      {Command: executor.CommandResume},
		"IBENCH=40": {Command: executor.CommandSet, Percent: 40},
		"set=0":     {Command: executor.CommandSet},
		"mem_bw=25": {Command: executor.CommandSet, Percent: 25, Source: "mem_bw"},
	} {
		if got, err := parseSignal(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	advice, err := parseSignal("ADVICE=mem_bw:llc_cap")
	if err != nil || advice.Command != executor.CommandAdvise || advice.Advice == nil || advice.Advice.Leave != "mem_bw" || len(advice.Advice.Sources) != 1 {
		t.Errorf("advice: %+v, %v", advice, err)
	}
	for _, text := range []string{"SIGHUP", "", "=40", "ADVICE=disk", "IBENCH=130", "IBENCH=", "disk=40"} {
		if _, err := parseSignal(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
	if _, err := parseSignal("SIGHUP"); !strings.Contains(err.Error(), "SIGUSR1") {
		t.Errorf("%q does not list what is supported", err)
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	idle := executor.KernelStatus{Source: "int", CPUs: []int{0, 1}, Placement: "same", Paused: true}
	reached, rate := 12.4, 2e9
	climbing := executor.KernelStatus{
		Source: "fp", CPUs: []int{1}, Placement: "beside", Ramp: true, AchievedPercent: &reached, SpeedOpsPerSec: &rate,
		KernelStats: profiler.KernelStats{IntensityPct: 12.5, Ops: 1, DemandOps: 1, WallNanoseconds: 1e9, Unit: "operations"},
	}
	busy := executor.KernelStatus{Source: "mem_bw", Variant: "nt", CPUs: []int{1}, Placement: "beside", KernelStats: profiler.KernelStats{
		IntensityPct: 40, Ops: 5e9, DemandOps: 1e10, WallNanoseconds: 2e9, Unit: "bytes",
	}}
	got, err := render(executor.Response{Kernels: []executor.KernelStatus{idle, busy, climbing}}, false)
	want := "int: 0 % on CPUs 0-1 (same), paused, achieved -, speed -, 0  in 0.0 s\n" +
		"mem_bw nt: 40 % on CPUs 1 (beside), achieved 50 % of what was asked, speed -, 5e+09 bytes in 2.0 s\n" +
		"fp: 12.5 % on CPUs 1 (beside), on a ramp, achieved 12 %, speed 2e+09 operations/s, 1 operations in 1.0 s\n"
	if err != nil || got != want {
		t.Errorf("got\n%swant\n%s%v", got, want, err)
	}
	got, err = render(executor.Response{Progress: &profiler.Progress{Phase: "ramp", Fraction: 0.5}}, true)
	if err != nil || !strings.Contains(got, `"fraction": 0.5`) {
		t.Errorf("JSON: %s, %v", got, err)
	}
}

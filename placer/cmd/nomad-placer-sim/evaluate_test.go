package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// profileFolder holds rows whose three scores are proportional.
func profileFolder(t *testing.T, rows int) string {
	t.Helper()
	folder := t.TempDir()
	for i := range rows {
		scores := interference.Scores{}
		for k, s := range []interference.Source{interference.LLCCapacity, interference.MemoryBandwidth, interference.TLB} {
			scores[s] = interference.Estimate{Score: interference.Percent(float64((i + 1) * (k + 2))), Origin: interference.Measured}
		}
		data, err := json.Marshal(profile.Profile{
			Format: profile.Format, Key: fmt.Sprint("k", i), Workload: fmt.Sprint("w", i), Taken: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Machine:     profile.Machine{Configuration: "big", CPUModel: "cpu", KernelRelease: "6.1"},
			SlowdownMax: 5, Complete: true, Sensitivity: interference.Sensitivity{Tolerated: scores},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, ".json")), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func runEvaluate(args ...string) (code int, out, failure string) {
	var stdout, stderr bytes.Buffer
	s := &command.Shell{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Getenv: func(string) string { return "" }, Now: time.Now, After: time.After}
	code = simulator().Run(context.Background(), s, append([]string{"evaluate"}, args...))
	return code, stdout.String(), stderr.String()
}

func TestProfileEvaluate(t *testing.T) {
	t.Parallel()
	folder := profileFolder(t, 12)
	code, out, failure := runEvaluate("-classifier", "mean,knn", "-seeds", "2", folder)
	for _, want := range []string{"tolerated scores (interference)", "12 workloads, 3 columns, 2 shown (random), row left out, 2 seeds", "\n  knn ", "\n  mean ", "paper 1  Delimitrou 2015, table 3.2"} {
		if code != command.ExitDone || !strings.Contains(out, want) {
			t.Errorf("exit %d, %q missing in\n%s%s", code, want, out, failure)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		if len([]rune(line)) > command.PageWidth {
			t.Errorf("wider than a page: %q", line)
		}
	}
	code, out, _ = runEvaluate("-json", "-classifier", "mean", folder)
	var got evaluated
	if err := json.Unmarshal([]byte(out), &got); code != command.ExitDone || err != nil || len(got.Reports) != 1 || got.Reports[0].Lines[0].Classifier != "mean" {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
}

func matrixFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A matrix of one's own is evaluated, alone and learnt from another.
func TestEvaluateMatrix(t *testing.T) {
	t.Parallel()
	here := matrixFile(t, "row,group,a,b,c,d\nr1,g,1,2,3,4\nr2,g,2,4,6,8.5\nr3,h,1,2.1,3,4.2\nr4,h,3,6,9.5,12\n")
	there := matrixFile(t, "row,column,value\nq1,d,4\nq1,c,3\nq1,b,2\nq1,a,1\nq2,a,2\nq2,b,4\nq2,c,6\nq2,d,8\n")
	code, out, failure := runEvaluate("-classifier", "mean", "-seeds", "2", "-entries", "1,2", "-leave", "group", here)
	for _, want := range []string{"4 workloads, 4 columns, 1 shown (random), group left out", "4 workloads, 4 columns, 2 shown"} {
		if code != command.ExitDone || !strings.Contains(out, want) {
			t.Errorf("exit %d, %q missing in\n%s%s", code, want, out, failure)
		}
	}
	code, out, failure = runEvaluate("-classifier", "mean", "-seeds", "2", "-train", there, here)
	if code != command.ExitDone || !strings.Contains(out, "learnt from "+there) {
		t.Errorf("exit %d\n%s%s", code, out, failure)
	}
}

func TestProfileEvaluateRefusals(t *testing.T) {
	t.Parallel()
	bad := t.TempDir()
	if err := os.WriteFile(filepath.Join(bad, "x.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-classifier", "mean,magic"}, command.ExitUsage, `unknown classifier "magic"; known: average, cf,`},
		{[]string{"-data", "magic"}, command.ExitUsage, `unknown data set "magic"; known: `},
		{[]string{"-data", "all", "folder"}, command.ExitUsage, "either -data or a folder"},
		{[]string{"-draw", "magic"}, command.ExitUsage, "-draw is random, fixed, planned, pair or widest"},
		{[]string{"-leave", "magic"}, command.ExitUsage, "-leave is row or group"},
		{[]string{"-seeds", "0"}, command.ExitUsage, "at least 1"},
		{[]string{"-entries", "2,none"}, command.ExitUsage, `-entries: "none" is no number`},
		{[]string{"-cells", "seconds"}, command.ExitUsage, "-cells is speed or points"},
		{[]string{"-pairs", "-train", "x"}, command.ExitUsage, "-pairs are of the shipped training set"},
		{[]string{"-set", "magic"}, command.ExitUsage, `no set "magic"; there are "tolerated scores"`},
		{[]string{"-cells", "points", matrixFile(t, "row,a,b,c\nx,1,2,3\ny,1,2,300\n")}, command.ExitFailed, "m.csv:3: column c: 300 is not possible"},
		{[]string{matrixFile(t, "row,a,b,c\nx,1,2,3\ny,1,2,\n")}, command.ExitFailed, "two rows must be known in three columns"},
		{[]string{"-data", filepath.Join(bad, "c3o-spark")}, command.ExitFailed, "c3o-spark is not here (dos-group/c3o-experiments"},
		{[]string{bad}, command.ExitFailed, "x.json"},
		{[]string{profileFolder(t, 1)}, command.ExitFailed, "1 profiles: too few"},
		{[]string{"-classifier", "mean", "-entries", "9", profileFolder(t, 12)}, command.ExitFailed, "no set could be evaluated"},
	} {
		code, _, failure := runEvaluate(c.args...)
		if code != c.code || !strings.Contains(failure, c.want) {
			t.Errorf("%v: exit %d, %q, want %d, %q", c.args, code, failure, c.code, c.want)
		}
	}
}

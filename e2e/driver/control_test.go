//go:build e2e

package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One kernel, steered in every way that Nomad offers while it runs.
func TestLiveControl(t *testing.T) {
	k := run(t, "driver-kernel.hcl", nil)
	level := func(t *testing.T, want float64) kernel {
		t.Helper()
		got := k.kernels(t)
		if len(got) != 1 || got[0].IntensityPercent != want {
			t.Fatalf("kernels %+v, want one at %v", got, want)
		}
		return got[0]
	}
	t.Run("starts at its level", func(t *testing.T) {
		level(t, 30)
		k.says(t, "mem_bw: 30 % on CPUs")
	})
	t.Run("exec", func(t *testing.T) {
		k.exec(t, "set", "20")
		level(t, 20)
		k.exec(t, "add", "-5", "mem_bw")
		level(t, 15)
		k.says(t, "mem_bw: 20 % → 15 %")
		if code, out := k.try("set", "130"); code == 0 || !strings.Contains(out, "0 to 100") {
			t.Errorf("exit code %d: %s", code, out)
		}
		if code, out := k.try("sh", "-c", "id"); code == 0 || !strings.Contains(out, "unknown command") {
			t.Errorf("a shell: exit code %d: %s", code, out)
		}
	})
	t.Run("signal", func(t *testing.T) {
		for _, step := range []struct {
			signal string
			want   float64
		}{{"SIGUSR1", 25}, {"SIGUSR2", 15}, {"IBENCH=40", 40}, {"mem_bw=10", 10}} {
			if code, out := nomad("alloc", "signal", "-s", step.signal, k.alloc, k.name); code != 0 {
				t.Fatalf("%s: %s", step.signal, out)
			}
			level(t, step.want)
		}
		if code, out := nomad("alloc", "signal", "-s", "mem_bw=130", k.alloc, k.name); code == 0 || !strings.Contains(out, "0 to 100") {
			t.Errorf("a level out of range: exit code %d: %s", code, out)
		}
	})
	t.Run("pause and resume", func(t *testing.T) {
		for _, way := range [][2]func() (int, string){
			{func() (int, string) { return k.try("pause") }, func() (int, string) { return k.try("resume") }},
			{
				func() (int, string) { return nomad("alloc", "signal", "-s", "SIGSTOP", k.alloc, k.name) },
				func() (int, string) { return nomad("alloc", "signal", "-s", "SIGCONT", k.alloc, k.name) },
			},
		} {
			for i, paused := range []bool{true, false} {
				if code, out := way[i](); code != 0 {
					t.Fatal(out)
				}
				if got := level(t, 10); got.Paused != paused {
					t.Errorf("paused = %v, want %v", got.Paused, paused)
				}
			}
		}
	})
	t.Run("ramp", func(t *testing.T) {
		k.exec(t, "ramp", "10", "20", "5", "300ms")
		if got := k.kernels(t)[0]; !got.Ramp {
			t.Errorf("no ramp is under way: %+v", got)
		}
		eventually(t, "the ramp is done", func() (bool, string) {
			got := k.kernels(t)[0]
			return !got.Ramp && got.IntensityPercent == 20, ""
		})
		k.says(t, "mem_bw: ramp from 10 % to 20 % in steps of 5 %, 300ms each", "mem_bw: ramp done, stays at 20 %")
	})
	t.Run("action", func(t *testing.T) {
		if code, out := nomad("action", "-job", k.job, "-group", "noise", "-task", k.name, "-i=false", "-t=false", "quiet"); code != 0 {
			t.Fatal(out)
		}
		level(t, 0)
		k.exec(t, "set", "30")
	})
	t.Run("stats", func(t *testing.T) {
		eventually(t, "the kernel's speed is known", func() (bool, string) {
			got := k.kernels(t)[0]
			return got.AchievedPercent != nil && got.SpeedOpsPerSec != nil && *got.SpeedOpsPerSec > 0 && got.ResidentBytes > 0, ""
		})
		alloc, _, err := shared.API().Allocations().Info(k.alloc, nil)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "Nomad shows the task's use", func() (bool, string) {
			use, err := shared.API().Allocations().Stats(alloc, nil)
			if err != nil || use.Tasks[k.name] == nil || use.Tasks[k.name].ResourceUsage.CpuStats.Percent <= 0 {
				return false, "no use"
			}
			return len(use.Tasks[k.name].Pids) >= 2, "no use by process"
		})
	})
	t.Run("metrics", func(t *testing.T) {
		want := `ibench_kernel_intensity_percent{alloc_id="` + k.alloc + `",kernel="0",source="mem_bw",task="noise"} 30`
		if text := scrape(t); !strings.Contains(text, want) || !strings.Contains(text, "ibench_kernel_speed_ops_per_second{") {
			t.Errorf("no %s in\n%s", want, text)
		}
		stop(t, k.job)
		if text := scrape(t); strings.Contains(text, "ibench_kernel") || !strings.Contains(text, "ibench_tasks 0") {
			t.Errorf("a task that is gone has metrics:\n%s", text)
		}
	})
}

func TestRampByConfig(t *testing.T) {
	k := run(t, "driver-ramp.hcl", nil)
	k.says(t, "int: ramp from 0 % to 20 % in steps of 10 %, 1s each", "int: 0 % → 10 %", "int: 10 % → 20 %", "int: ramp done, stays at 20 %")
}

func TestDuration(t *testing.T) {
	k, state := ends(t, register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-duration.hcl"), nil)))
	if exitCode(state) != 0 || state.Failed {
		t.Errorf("ended with %d, failed = %v", exitCode(state), state.Failed)
	}
	k.says(t, "int: ended after its duration of 1s", "fp: ended after its duration of 2s", "ended: the duration of every kernel is over")
}

func TestMaxDuration(t *testing.T) {
	k, state := ends(t, register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-max-duration.hcl"), nil)))
	if exitCode(state) != 0 {
		t.Errorf("ended with %d", exitCode(state))
	}
	k.says(t, "ended: max_duration is over")
}

// Kernels are placed relative to a task of the same allocation.
func TestTarget(t *testing.T) {
	k := run(t, "driver-target.hcl", nil)
	var got []kernel
	eventually(t, "both kernels run", func() (bool, string) {
		got = k.kernels(t)
		return len(got) == 2, ""
	})
	if got[0].Placement == "beside" || got[1].Placement != "beside" {
		t.Errorf("%s is %s, %s is %s the target", got[0].Source, got[0].Placement, got[1].Source, got[1].Placement)
	}
	for _, cpu := range got[1].CPUs {
		for _, other := range got[0].CPUs {
			if cpu == other {
				t.Errorf("the kernel beside the target shares CPU %d", cpu)
			}
		}
	}
}

// A target that forks is under pressure until the last of it has ended, also
// half-way up a ramp.
func TestTargetForksAndExits(t *testing.T) {
	k, state := ends(t, register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-target-exits.hcl"), nil)))
	if exitCode(state) != 0 {
		t.Errorf("ended with %d", exitCode(state))
	}
	k.says(t, "int: 0 % → 1 %", "ended: the target task has ended: victim")
}

// The job file with a mistake that is not about values known here.
func TestBadIntensityFile(t *testing.T) {
	k, state := ends(t, register(t, load(t, mainNode, filepath.Join(jobsDir, "driver-bad-intensity.hcl"), nil)))
	k.says(t, "kernel[0].intensity: 130 is outside 0 to 100 percent")
	if state.Restarts != 0 {
		t.Errorf("%d restarts of what no restart mends", state.Restarts)
	}
}

// Every mistake says what is wrong where `nomad alloc status` shows it.
func TestBadConfig(t *testing.T) {
	nowhere := filepath.Join(os.TempDir(), "no/such/folder")
	for _, c := range []struct {
		name      string
		variables map[string]string
		want      string
	}{
		{"unknown source", map[string]string{"source": `"mem_bandwith"`}, `unknown source of interference "mem_bandwith"`}, //nolint:misspell // that is the point
		{"unknown domain", map[string]string{"domain": `"besides"`}, `did you mean "beside"?`},
		{"variant", map[string]string{"variant": `"nt"`}, "kernel[0].variant: int has no variants"},
		{"path of another kernel", map[string]string{"path": `"/srv"`}, "only storage kernels have a path"},
		{"path that is not there", map[string]string{"source": `"storage_bw"`, "path": `"` + nowhere + `"`}, "no such file or directory"},
		{"path elsewhere", map[string]string{"source": `"storage_bw"`, "path": `"/proc/sys"`}, "kernel[0].path: /proc/sys is not below"},
		{"peer elsewhere", map[string]string{"source": `"net_bw"`, "peer": `"192.0.2.1:9"`}, "lets no kernel send to"},
		{"peer unreachable", map[string]string{"source": `"net_bw"`, "peer": `"127.0.0.1:9"`}, "127.0.0.1:9"},
		{"longer than allowed", map[string]string{"max_duration": `"2h"`}, "max_duration: 2h0m0s is longer than the operator allows on this node, 1h0m0s"},
		{"newer configuration", map[string]string{"config_version": "2"}, "config_version: 2 is not known to this release"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // Nomad takes some seconds to tell of a task that never started
			job := load(t, mainNode, filepath.Join(jobsDir, "driver-bad-config.hcl"), c.variables)
			k, state := ends(t, register(t, job))
			if !state.Failed {
				t.Error("the task has not failed")
			}
			k.says(t, c.want)
		})
	}
}

// Nothing starts on a node that has less than its reserve.
func TestReserve(t *testing.T) {
	job := load(t, tightNode, filepath.Join(jobsDir, "driver-max-duration.hcl"), nil)
	restart(job, 0)
	k, _ := ends(t, register(t, job))
	k.says(t, "less than the reserve of 1000000000 MiB")
	checkNothingLeft(t, tightNode)
}

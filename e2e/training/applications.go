package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// application is something to measure: a job of the demo, or a loop of this
// file.
type application struct {
	id     string
	submit func() error
}

// loops are real programs on small generated inputs, repeated for ever; each
// prints a line per unit of work. The inputs come from fixed seeds.
var loops = []struct{ id, prepare, unit string }{
	{"xz-6", `seq 1 40000 > in`, `xz -6 -T1 -c in > /dev/null`},
	{"gzip-6", `seq 1 60000 > in`, `gzip -6 -c in > /dev/null`},
	{"openssl-sha256", `seq 1 1500000 > in`, `openssl dgst -sha256 in > /dev/null`},
	{"sort-text", `awk 'BEGIN { srand(7); for (i = 0; i < 20000; i++) print rand() }' > in`, `sort -S 16M in > /dev/null`},
	{"awk-sum", `seq 1 200000 > in`, `awk '{ s += $1 * 1.0001 } END { print s }' in > /dev/null`},
	{"copy-memory", `true`, `dd if=/dev/zero of=/dev/null bs=8M count=16 status=none`},
	{"gcc-O2", `for i in $(seq 1 12); do echo "int f$i(int a) { int s = 0; for (int k = 0; k < a; k++) s += k * $i; return s; }"; done > in.c`, `gcc -O2 -c -o out.o in.c`},
	{"tar-files", `mkdir d; for i in $(seq 1 200); do seq 1 $i > d/$i; done`, `tar -cf out.tar d`},
}

func applications(r *rig.Rig, demo string) ([]application, error) {
	paths, err := filepath.Glob(filepath.Join(demo, "*.hcl"))
	if err != nil {
		return nil, err
	}
	var out []application
	for _, path := range paths {
		f, err := r.ReadJobFile(path)
		if err != nil {
			return nil, err
		}
		if f.Spec.Target.Kind == performance.FinishWithin {
			continue // it ends before every source is measured; its program is among the loops
		}
		out = append(out, application{f.ID, func() error { return r.SubmitHeld(f) }})
	}
	for _, l := range loops {
		out = append(out, application{l.id, func() error { return r.SubmitHeldJob(loopJob(l.id, l.prepare, l.unit)) }})
	}
	return out, nil
}

// loopJob is a service that does the unit of work for ever.
func loopJob(id, prepare, unit string) *api.Job {
	script := strings.Join([]string{
		`cd "$NOMAD_TASK_DIR"`, prepare, "i=0", "while " + unit + "; do i=$((i+1)); echo \"units $i\"; done", "exit 1",
	}, "\n")
	cpu, memory := 400, 128
	task := api.NewTask("main", "raw_exec").SetConfig("command", "/bin/bash").SetConfig("args", []string{"-c", script}).
		Require(&api.Resources{CPU: &cpu, MemoryMB: &memory})
	group := api.NewTaskGroup("main", 1).AddTask(task)
	group.Meta = map[string]string{"performance": fmt.Sprintf("target {\n  rate = 1\n  unit = %q\n}\nprobe \"log\" {\n  pattern = \"units (\\\\d+)\"\n}\n", "units")}
	return api.NewServiceJob(id, id, "global", 50).AddTaskGroup(group)
}

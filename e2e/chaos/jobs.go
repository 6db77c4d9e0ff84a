package main

import (
	"fmt"
	"strings"
	"time"
)

// The kinds of jobs that users submit.
const (
	service       = "service"
	batch         = "batch"         // ends by itself
	parameterized = "parameterized" // children are dispatched
	noise         = "noise"         // interference kernels of the driver
)

// The ways to submit a job.
type route string

const (
	throughProxy   route = "proxy"     // Nomad's API at the proxy
	byHoldPool     route = "hold pool" // straight to Nomad, naming the hold pool
	byCommandLine  route = "nomad-placer job run"
	byStockCommand route = "nomad job run" // at the proxy
	pastTheGate    route = "Nomad"         // the job names no pool: it is not held
)

// spec is what a user wants of a job: one version of it.
type spec struct {
	ID    string
	Kind  string
	Mark  int // of this version
	Count int // of each group
	More  int // groups of the same besides the first
	Hold  time.Duration
	// Block is the performance block without its hold.
	Block string
	// Script is what the task does; jobs with the same one share a profile.
	Script string
	// Memory the task is given, in MB; 0 is a little.
	Memory int
	// Cores that are the task's alone; 0 is a little of what all share.
	Cores int
	// Beside is the node that it would rather be on; empty is none.
	Beside string
	// Datacenters it may be in; empty is Nomad's first.
	Datacenters []string
}

// The tasks: none starts processes, for there are many of them on a small machine.
const (
	// pace is ten units of work a second.
	pace = `exec 3<> <(:); i=0; while true; do read -t 0.1 -u 3; i=$((i+1)); echo "units $i"; done`
	// brief works for some seconds.
	brief = `exec 3<> <(:); for i in 1 2 3 4 5 6 7 8; do read -t 0.25 -u 3; echo "units $i"; done; exit 0`
	// hungry uses its memory of 64 MB, at twenty units a second.
	hungry = `exec 3<> <(:); for i in {1..46}; do a[i]=$(printf '%1000000s' ''); done; i=0; while true; do read -t 0.05 -u 3; i=$((i+1)); echo "units $i"; done`
)

// The performance blocks.
const (
	logProbe = `
      probe "log" {
        pattern = "units (\\d+)"
      }`
	// knownBlock is not profiled: it is placed as soon as it is seen.
	knownBlock = `
      target {
        rate = 2
      }` + logProbe + `
      profile {
        skip = true
      }`
	// profiledBlock is profiled for a few seconds.
	profiledBlock = `
      target {
        rate = 2
      }` + logProbe + `
      profile {
        seconds = 5
        sources = ["int"]
      }`
	bestEffortBlock = `
      target {
        best_effort = true
      }
      profile {
        skip = true
      }`
)

// text is the jobspec as its user would write it for a route.
func (s spec) text(by route) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("job %q {", s.ID)
	line("  type = %q", s.jobType())
	if by == byHoldPool {
		line("  node_pool = \"placer\"")
	}
	datacenters := s.Datacenters
	if len(datacenters) == 0 {
		datacenters = []string{"dc1"}
	}
	line("  datacenters = [\"%s\"]", strings.Join(datacenters, `", "`))
	if s.Kind == parameterized {
		line("  parameterized {\n    meta_optional = [\"order\"]\n  }")
	}
	if s.Beside != "" {
		line("  affinity {\n    attribute = \"${node.unique.name}\"\n    value     = %q\n    weight    = 100\n  }", s.Beside)
	}
	// Whatever is killed is started again, soon and as often as it takes.
	line("  reschedule {\n    attempts       = 0\n    delay          = \"5s\"\n    delay_function = \"constant\"\n    unlimited      = true\n  }")
	for i := range 1 + s.More {
		s.writeGroup(line, i, by)
	}
	line("}")
	return b.String()
}

// groupName is that of the first group, or of one of the others.
func groupName(i int) string {
	if i == 0 {
		return "main"
	}
	return fmt.Sprintf("more%d", i)
}

func (s spec) writeGroup(line func(string, ...any), i int, by route) {
	line("  group %q {\n    count = %d", groupName(i), s.Count)
	if s.jobType() == service {
		line("    update {\n      max_parallel = 0\n    }")
	}
	line("%s", s.block(by))
	line("    restart {\n      attempts = 30\n      interval = \"5m\"\n      delay    = \"1s\"\n      mode     = \"delay\"\n    }")
	line("    ephemeral_disk {\n      size = 10\n    }")
	line("    task \"main\" {")
	if s.Kind == noise {
		line("      driver = \"ibench\"\n      config {\n        kernel {\n          source    = \"int\"\n          intensity = 5\n        }\n        max_duration = \"2h\"\n        allow_pair   = true\n      }")
	} else {
		line("      driver      = \"raw_exec\"\n      kill_signal = \"SIGKILL\"\n      config {\n        command = \"/bin/bash\"\n        args    = [\"-c\", %s]\n      }", quoted(s.Script))
	}
	line("      meta {\n        mark = \"%d\"\n      }", s.Mark)
	line("      logs {\n        max_files     = 1\n        max_file_size = 1\n      }")
	memory := max(16, s.Memory)
	cpu := "cpu    = 50"
	if s.Cores > 0 {
		cpu = fmt.Sprintf("cores  = %d", s.Cores)
	}
	line("      resources {\n        %s\n        memory = %d\n      }\n    }\n  }", cpu, memory)
}

// allocations is how many of the job are to run, or to have run.
func (s spec) allocations() int { return s.Count * (1 + s.More) }

// quoted is a string of HCL, in which "${" and "%{" would be templates.
func quoted(text string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(fmt.Sprintf("%q", text))
}

// block is the performance block: as such for our own command line, which takes it out
// of the jobspec, and as meta for everybody else.
func (s spec) block(by route) string {
	body := fmt.Sprintf("%s\n      hold = %q", s.Block, s.Hold)
	if by == byCommandLine {
		return "    performance {" + body + "\n    }"
	}
	return "    meta {\n      performance = <<EOT" + body + "\nEOT\n    }"
}

func (s spec) jobType() string {
	if s.Kind == batch || s.Kind == parameterized {
		return batch
	}
	return service
}

package scenario_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// provisioned is a scenario with everything a provision block can have, small enough for a second.
const provisioned = `title = "provisioned"
seeds = [1]
limit = "3h"

cluster {}

provision {
  steady_cores      = 20
  peak_cores        = 60
  machine_cores     = 16
  machine_memory_mb = 61440

  type "small" {
    family    = "standard"
    cores     = 2
    memory_mb = 7680
    spin_up   = "17s"
  }
  type "whole" {
    family         = "standard"
    cores          = 16
    memory_mb      = 61440
    price_per_hour = 16
    spin_up        = "12s"
  }

  outside {
    mean        = 0.25
    swing       = 0.1
    correlation = "5m"
    step        = "10s"
  }

  prices {
    rented_per_core_hour = 1
    ratio                = 2.74
    term_weeks           = 52
    minimum_billed       = "1m"

    discount {
      beyond = 0.5
      price  = 0.6
    }
  }

  demand {
    for             = "30m"
    ends            = "35m"
    every           = "10s"
    batch_jobs      = 4
    batch_cores     = 1.5
    batch_classes   = ["hadoop"]
    service_classes = ["memcached"]
    applications    = 20

    duration "loguniform" {
      low  = "2m"
      high = "8m"
    }

    point {
      at    = "0m"
      cores = 0
    }
    point {
      at    = "2m"
      cores = 20
    }
    point {
      at    = "15m"
      cores = 60
    }
    point {
      at       = "30m"
      cores    = 20
      services = 0.4
    }
  }
}

profiling {
  time      = "7500ms"
  training  = 12
  recurring = true
}

world {
  decision_time = "20ms"
  sample_every  = "10s"
}

policy "HM" {
  selector  = "paragon"
  admission = "hcloud"
  strategy  = "HM"
  admission_options = { mapping = "P8" }
}
policy "HM-user" {
  selector  = "least-loaded"
  admission = "hcloud"
  strategy  = "HM"
}
policy "OdM" {
  selector  = "paragon"
  admission = "hcloud"
  strategy  = "OdM"
}
policy "autoscaler" {
  selector  = "nomad-binpack"
  admission = "target-value"
  strategy  = "OdF"
}
policy "nomad-binpack" { admission = "none" }
`

func figureOf(t *testing.T, r *report.Report, policy, metric string) float64 {
	t.Helper()
	for i := range r.Lines {
		if r.Lines[i].Policy == policy {
			f, ok := r.Lines[i].Figure(metric)
			if !ok {
				t.Fatalf("%s has no %s", policy, metric)
			}
			return f.Mean
		}
	}
	t.Fatalf("no policy %s", policy)
	return 0
}

// What is owned and what is rented follows from the strategy, and every core that a job had was
// one of these.
func TestProvisionedRuns(t *testing.T) {
	t.Parallel()
	s, err := decode(t, provisioned)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for policy, want := range map[string]struct {
		owned float64
		rents bool
	}{"HM": {32, true}, "HM-user": {32, true}, "OdM": {0, true}, "autoscaler": {0, true}, "nomad-binpack": {80, false}} { // 20 and 60 · 1.15 in machines of 16
		if got := figureOf(t, r, policy, "owned_cores"); got != want.owned {
			t.Errorf("%s owns %g cores, want %g", policy, got, want.owned)
		}
		rented := figureOf(t, r, policy, "rented_cores")
		if (rented > 0) != want.rents {
			t.Errorf("%s rents %g cores", policy, rented)
		}
		if load := figureOf(t, r, policy, "load_cores"); load > want.owned+rented {
			t.Errorf("%s gives jobs %g cores of %g", policy, load, want.owned+rented)
		}
		if cost, of := figureOf(t, r, policy, "cost_per_hour"), want.owned/2.74+rented; cost < of-1e-9 || cost > of+1e-9 {
			t.Errorf("%s costs %g core hours per hour, want %g", policy, cost, of)
		}
	}
	if got := figureOf(t, r, "OdM", "base_share"); got != 0 {
		t.Errorf("%g %% of OdM's jobs are on owned nodes, of which there are none", got)
	}
	// Who asks for too little runs for longer: it is the product of cores and time that is larger.
	coreSeconds := func(policy string) float64 {
		return figureOf(t, r, policy, "load_cores") * figureOf(t, r, policy, "makespan")
	}
	if user, right := coreSeconds("HM-user"), coreSeconds("HM"); user <= right {
		t.Errorf("jobs of the sizes that users ask for take %g core seconds, those of the sizes that they need %g", user, right)
	}
}

func TestProvisionedRunsAreTheSameBytes(t *testing.T) {
	t.Parallel()
	s, err := decode(t, provisioned)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, parallel := range []int{1, 3} {
		r, err := s.Run(context.Background(), scenario.Options{Parallel: parallel, Policies: []string{"HM", "OdM", "autoscaler"}})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("two runs differ")
	}
}

// A sweep is a run per load, in which the load takes the place of what it stands for.
func TestSweeps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sweep, loads, metric string }{
		{"spin_up", "[0, 300]", "relative"}, {"outside", "[0, 1]", "relative_rented"}, {"sensitive", "[0, 1]", "relative"},
	} {
		text := strings.Replace(provisioned, "limit = \"3h\"", "limit = \"3h\"\nloads = "+c.loads, 1)
		s, err := decode(t, strings.Replace(text, "provision {", "provision {\n  sweep = \""+c.sweep+"\"", 1))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(context.Background(), scenario.Options{Policies: []string{"OdM"}})
		if err != nil {
			t.Fatal(err)
		}
		var values []float64
		for i := range r.Lines {
			f, _ := r.Lines[i].Figure(c.metric)
			values = append(values, f.Mean)
		}
		if len(values) != 2 || values[0] <= values[1] {
			t.Errorf("%s: %s is %v, want it to fall", c.sweep, c.metric, values)
		}
	}
}

func TestProvisionErrorsSayWhere(t *testing.T) {
	t.Parallel()
	if _, err := decode(t, provisioned); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"more steady than peak":  {"steady_cores      = 20", "steady_cores      = 70", "test.hcl:8:3: steady_cores = 70 is more than peak_cores = 60"},
		"too large a type":       {"cores          = 16", "cores          = 32", "test.hcl:21:5: cores = 32 is not from 1 to 16"},
		"type twice":             {`type "whole"`, `type "small"`, `the name "small" is missing or given twice`},
		"spin-up":                {`spin_up   = "17s"`, `spin_up   = "soon"`, `test.hcl:17:5: spin_up = "soon" is no duration`},
		"outside":                {"mean        = 0.25", "mean        = 25", "mean and swing are shares from 0 to 1"},
		"discounts":              {"beyond = 0.5", "beyond = 1.5", "discounts begin beyond rising shares of the month"},
		"billing":                {`minimum_billed       = "1m"`, `minimum_billed = "-1m"`, `"-1m" is no duration`},
		"ratio":                  {"ratio                = 2.74", "ratio = 0", "rented_per_core_hour and ratio are above 0"},
		"class":                  {`["hadoop"]`, `["memcached"]`, `unknown batch_classes "memcached"`},
		"points":                 {`at    = "15m"`, `at    = "1m"`, `at = "1m" is not after the point in front of it`},
		"shares":                 {"services = 0.4", "services = 4", "services a share from 0 to 1"},
		"ends":                   {`ends            = "35m"`, `ends = "5m"`, "ends is not before for"},
		"strategy":               {`strategy  = "OdM"`, `strategy  = "OdN"`, `unknown strategy "OdN"; did you mean "OdF"?`},
		"nobody rents":           {`policy "nomad-binpack" { admission = "none" }`, "policy \"nomad-binpack\" {\n  admission = \"none\"\n  strategy = \"HM\"\n}", `strategy HM needs admission = "hcloud"`},
		"autoscaler with a base": {"admission = \"target-value\"\n  strategy  = \"OdF\"", "admission = \"target-value\"\n  strategy  = \"HF\"", `nobody rents nodes for policy autoscaler`},
		"mapping":                {`mapping = "P8"`, `mapping = "P9"`, `unknown mapping "P9"`},
		"option":                 {`mapping = "P8"`, `maping = "P8"`, `unknown admission_options "maping"; did you mean "mapping"?`},
		"stated twice":           {`mapping = "P8"`, `strategy = "SR"`, "strategy is not an option here"},
		"sweep":                  {"machine_cores     = 16", "machine_cores     = 16\n  sweep = \"outsid\"", `unknown sweep "outsid"; did you mean "outside"?`},
		"sweep without loads":    {"machine_cores     = 16", "machine_cores     = 16\n  sweep = \"outside\"", "sweep says what loads are: the two need each other"},
		"loads":                  {"machine_cores     = 16", "machine_cores     = 16\n  sweep = \"outside\"", "2 is no share from 0 to 1"},
		"with a shape":           {"cluster {}", "cluster {\n  shape = \"tarcil-100\"\n}", "an empty cluster block is left"},
		"without a block":        {"", "", `policy HM has a strategy, and the scenario has no provision block`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(provisioned, c.old, c.new, 1)
			switch name {
			case "loads":
				text = strings.Replace(text, "limit = \"3h\"", "loads = [0.5, 2]", 1)
			case "without a block":
				text = small + provisioned[strings.Index(provisioned, "policy \"HM\""):strings.Index(provisioned, "policy \"HM-user\"")]
			}
			_, err := decode(t, text)
			if !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

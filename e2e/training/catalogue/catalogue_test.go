package catalogue_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/e2e/training/input"
)

func TestCatalogue(t *testing.T) {
	t.Parallel()
	all, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 44 {
		t.Errorf("%d applications, want at least 44", len(all))
	}
	var inputs []string
	for _, i := range input.Inputs() {
		inputs = append(inputs, i.Name)
	}
	for i, a := range all {
		if i > 0 && a.Tier < all[i-1].Tier {
			t.Errorf("%s: tier %d after %d", a.ID, a.Tier, all[i-1].Tier)
		}
		for _, name := range a.Inputs {
			if !slices.Contains(inputs, name) {
				t.Errorf("%s: no input %q", a.ID, name)
			}
		}
		text := a.Run + strings.Join(a.Loop, " ")
		if len(a.MemorySizesMB) > 0 && !strings.Contains(text, "MEMORY_MB") && !strings.Contains(text, "KEYS_4K") {
			t.Errorf("%s: memory sizes that nothing uses", a.ID)
		}
		if a.Threads > 1 && !strings.Contains(text, "CORES") && a.Threads != 2 {
			t.Errorf("%s: %d threads that nothing uses", a.ID, a.Threads)
		}
		if strings.Contains(text, "INPUT") != (len(a.Inputs) > 0) {
			t.Errorf("%s: inputs %v, but its text says otherwise", a.ID, a.Inputs)
		}
	}
}

// Table 3 of Chiang and Huang 2011 has eight, of which each has data.
func TestColocated(t *testing.T) {
	t.Parallel()
	all, err := catalogue.Colocated()
	if err != nil || len(all) != 8 {
		t.Fatalf("%d applications, %v", len(all), err)
	}
	var inputs []string
	for _, i := range input.Inputs() {
		inputs = append(inputs, i.Name)
	}
	for _, a := range all {
		for _, name := range a.Inputs {
			if !slices.Contains(inputs, name) || !strings.Contains(a.Data, "$INPUT/"+name) {
				t.Errorf("%s: input %q is not there, or not used", a.ID, name)
			}
		}
		if strings.Contains(a.Run, "INPUT") || strings.Contains(a.Run, "$$") || !a.Disk {
			t.Errorf("%s: %q", a.ID, a.Run)
		}
	}
}

func TestArgv(t *testing.T) {
	t.Parallel()
	a := catalogue.Application{ID: "x", Loop: []string{"-keys", "$KEYS_4K", "-target", "127.0.0.1:$APP_PORT"}, Run: "run $CORES", MemoryMB: 43, Threads: 2}
	got := strings.Join(a.Argv(catalogue.Place{Workload: "/p", CPUs: []int{0, 3}, Cores: 4, Listen: "l:1", AppPort: "7"}), " ")
	if want := "taskset -c 0,3 /p loop -listen l:1 -keys 10000 -target 127.0.0.1:7 -- /bin/sh -c run $CORES"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if env := a.Environment(catalogue.Place{Cores: 4}); env["CORES"] != "2" || env["MEMORY_MB"] != "43" {
		t.Errorf("%v", env)
	}
	if !a.NeedsPort() || (catalogue.Application{Run: "x"}).NeedsPort() {
		t.Error("ports")
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	all := []catalogue.Application{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	got, err := catalogue.Choose(all, []string{"c", "a"})
	if err != nil || len(got) != 2 || got[0].ID != "a" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := catalogue.Choose(all, []string{"d"}); !errors.Is(err, catalogue.ErrUnknown) {
		t.Errorf("%v", err)
	}
	if got, err := catalogue.Choose(all, nil); err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

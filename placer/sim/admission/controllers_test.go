package admission_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission/admissiontest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	traits := map[string]admissiontest.Traits{"fifo": {StrictHead: true}, "mibs": {Delay: 30 * time.Second}, "mix": {Delay: 30 * time.Second}}
	for _, d := range admission.Controllers() {
		t.Run(d.Name, func(t *testing.T) { t.Parallel(); admissiontest.Run(t, d, traits[d.Name]) })
	}
	for name, values := range map[string]map[string]string{
		"arq sjf":        {"order": "sjf"},
		"arq priorities": {"priorities": "yes", "order": "sjf", "slack": "window"},
		"arq tolerated":  {"server": "tolerated", "quality": "both"},
		"arq sensitive":  {"quality": "sensitivity", "period": "5s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				s := admissiontest.Random(seed)
				s.Options.Values = values
				for i, o := range admissiontest.Play(t, lookup(t, "arq"), s).Outcomes {
					if !o.Placed {
						t.Fatalf("seed %d: job %d was never placed", seed, i)
					}
				}
			}
		})
	}
}

func lookup(t testing.TB, name string) admission.Descriptor {
	t.Helper()
	d, err := admission.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestControllersAreSortedAndUnique(t *testing.T) {
	t.Parallel()
	var names []string
	for _, d := range admission.Controllers() {
		names = append(names, d.Name)
		if d.Summary == "" || d.New == nil {
			t.Errorf("%s lacks a summary or a constructor", d.Name)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("not sorted or not unique: %v", names)
	}
	if _, err := admission.Lookup("arc"); err == nil || !strings.Contains(err.Error(), "arq, fifo, greedy-fit, hcloud, lotes, mibs, mix, none, patient, tarcil, target-value, tetris") {
		t.Errorf("error lists no names: %v", err)
	}
}

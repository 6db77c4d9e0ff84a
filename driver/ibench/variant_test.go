package ibench

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Every variant of every kernel works.
func TestVariants(t *testing.T) {
	t.Parallel()
	m, err := ReadMachine("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Kernels() {
		for _, variant := range d.Variants {
			t.Run(string(d.Source)+" "+variant, func(t *testing.T) {
				t.Parallel()
				if err := d.Supported(m); err != nil {
					t.Skipf("this machine cannot run it: %v", err)
				}
				if variant == streamNontemporal && runtime.GOARCH != "amd64" {
					t.Skip("built for amd64 only")
				}
				spec := testSpec(t, d.Source)
				spec.Variant, spec.IntensityPercent = variant, 50
				p := start(t, spec)
				eventually(t, "work", func() bool {
					s, err := p.Stats(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					return s.Ops > 0
				})
			})
		}
	}
	spec := testSpec(t, interference.MemoryBandwidth)
	spec.Variant = "copy"
	if p, err := Start(t.Context(), spec); err == nil {
		p.Close()
		t.Error("an unknown variant started")
	} else if !strings.Contains(err.Error(), `no variant "copy"; known: read, nt, write`) {
		t.Error(err)
	}
}

// Both kinds of stores reach every line, and no byte beyond.
func TestStoresReachEveryLine(t *testing.T) {
	t.Parallel()
	const line, chunk = 64, 4096
	for name, variant := range map[string]string{"write": streamWriteBack, "nt": streamNontemporal} {
		pass, err := passOf(variant)
		if err != nil {
			if runtime.GOARCH == "amd64" {
				t.Error(err)
			}
			continue
		}
		r, err := newRegion(2*chunk, false)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.data {
			r.data[i] = 0xaa
		}
		pass(r.base(), chunk, line)
		for i := 0; i < 2*chunk; i += line {
			untouched := *(*uint64)(unsafe.Add(r.base(), i)) == 0xaaaaaaaaaaaaaaaa
			if untouched != (i >= chunk) {
				t.Errorf("%s: the line at %d: untouched %v", name, i, untouched)
			}
		}
		closeQuietly(r)
	}
}

package hcl

import (
	"testing"
	"time"
)

// agentsTypes are what an agent rents.
var agentsTypes = []InstanceTypeConfig{
	{Name: "agents-16", NodeClass: "c5.4xlarge", Cores: 16, MemoryMB: 30000, PricePerHour: 0.76, SpinUp: 75 * time.Second, Family: "compute", Max: 8},
	{Name: "agents-4", NodeClass: "c5.xlarge", Cores: 4, MemoryMB: 7500, PricePerHour: 0.19, SpinUp: 90 * time.Second},
}

func TestPricesGolden(t *testing.T) {
	t.Parallel()
	eachInput(t, "prices/valid", 2, func(t *testing.T, file string, src []byte) {
		config, err := known.DecodePrices(src, "prices.hcl", agentsTypes)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, file, asJSON(t, config))
	})
}

func TestPricesGoldenErrors(t *testing.T) {
	t.Parallel()
	eachInput(t, "prices/invalid", 5, func(t *testing.T, file string, src []byte) {
		config, err := known.DecodePrices(src, "prices.hcl", agentsTypes)
		if err == nil {
			t.Fatalf("no error; read as %s", asJSON(t, config))
		}
		wellFormed(t, err)
		golden(t, file, err.Error()+"\n")
	})
}

// FuzzPrices: no text panics the reader, and every error has a place.
func FuzzPrices(f *testing.F) {
	addInputs(f, "prices/valid", "prices/invalid")
	f.Fuzz(func(t *testing.T, src []byte) {
		config, err := known.DecodePrices(src, "fuzz.hcl", agentsTypes)
		if err != nil {
			wellFormed(t, err)
			return
		}
		if o := config.Owned; o.Cores < 1 || o.MemoryMB < 1 || o.TermWeeks < 1 || o.PricePerHour < 0 || o.Nodes < 0 || len(config.Types) == 0 {
			t.Errorf("%+v", config)
		}
		for _, typ := range config.Types {
			if typ.Name == "" || typ.Cores < 1 || typ.MemoryMB < 1 || typ.PricePerHour < 0 || typ.SpinUp <= 0 {
				t.Errorf("%+v", typ)
			}
		}
	})
}

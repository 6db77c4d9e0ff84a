package calibration

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// fitter has the scenarios of the cases.
type fitter struct {
	o         Options
	scenarios []*scenario.Scenario
	store     store
}

func newFitter(o Options) (*fitter, error) {
	if len(o.Cases) == 0 || len(o.Statistics) == 0 || len(o.Seeds) == 0 || o.Count < 1 {
		return nil, fmt.Errorf("%w: %d shapes, %d statistics, %d seeds, %d programs", ErrOptions, len(o.Cases), len(o.Statistics), len(o.Seeds), o.Count)
	}
	seen := map[string]bool{}
	for _, s := range o.Statistics {
		if seen[s.Name] || !(s.Tolerance > 0) {
			return nil, fmt.Errorf("%w: the statistic %q is there twice, or has no tolerance", ErrOptions, s.Name)
		}
		seen[s.Name] = true
	}
	if err := evaluated(o.Scenarios, o.Seeds); err != nil {
		return nil, err
	}
	f := &fitter{o: o, store: store{folder: o.Work}}
	for _, c := range o.Cases {
		s, err := scenario.Open(o.Scenarios, c.Scenario+".hcl", ".")
		if err != nil {
			return nil, err
		}
		if s.Shape() != c.Shape {
			return nil, fmt.Errorf("%w: the scenario %s is of %q, not of %q", ErrOptions, c.Scenario, s.Shape(), c.Shape)
		}
		f.scenarios = append(f.scenarios, s)
	}
	return f, nil
}

// evaluated refuses seeds that a scenario is run on.
func evaluated(files fs.FS, seeds []uint64) error {
	names, err := scenario.Files(files)
	if err != nil {
		return err
	}
	for _, name := range names {
		s, err := scenario.Open(files, name, ".")
		if err != nil {
			return err
		}
		for _, seed := range seeds {
			if slices.Contains(s.Seeds, seed) {
				return fmt.Errorf("%w: the scenario %s is run on seed %d: a world is fitted on other seeds than policies are compared on", ErrOptions, s.Name, seed)
			}
		}
	}
	return nil
}

func (f *fitter) tell(share float64, what string) {
	if f.o.Progress != nil {
		f.o.Progress(min(1, share), what)
	}
}

// fit moves the parameters of a group to what is fitted of its statistics. before is the share that
// is done when it begins.
func (f *fitter) fit(ctx context.Context, g Group, from truth.Parameters, before float64, fitted func(*Statistic) bool) (searched, error) {
	var own []knob
	for _, k := range knobs() {
		if k.group == g {
			own = append(own, k)
		}
	}
	return search(from, own,
		func(p truth.Parameters) (float64, error) { return f.misfit(ctx, p, g, fitted) },
		func(share, misfit float64) {
			f.tell(before+share/float64(len(groups())), fmt.Sprintf("%s, misfit %.2f", g, misfit))
		})
}

// misfit sums over the statistics of a group that are fitted, each a mean over its shapes.
func (f *fitter) misfit(ctx context.Context, p truth.Parameters, g Group, fitted func(*Statistic) bool) (float64, error) {
	sums, counts := make([]float64, len(f.o.Statistics)), make([]float64, len(f.o.Statistics))
	for i, c := range f.o.Cases {
		if !slices.ContainsFunc(f.o.Statistics, func(s Statistic) bool { return s.Group == g && s.applies(c) && fitted(&s) }) {
			continue
		}
		values, err := f.values(ctx, p, i, g)
		if err != nil {
			return 0, err
		}
		for k := range f.o.Statistics {
			s := &f.o.Statistics[k]
			if v, ok := values.of[s.Name]; ok && fitted(s) && !math.IsNaN(v) {
				sums[k], counts[k] = sums[k]+s.misfit(v), counts[k]+1
			}
		}
	}
	total := 0.0
	for k := range sums {
		if counts[k] > 0 {
			total += sums[k] / counts[k]
		}
	}
	return total, nil
}

// values are what a shape has of the statistics of a group, means over the seeds by name; NaN where
// it has nothing of the kind.
type values struct {
	of, measured map[string]float64
	classifier   string
	rows         int
}

// values of a case; the statistics that are not of its shape are left out.
func (f *fitter) values(ctx context.Context, p truth.Parameters, number int, g Group) (values, error) {
	out := values{of: map[string]float64{}, measured: map[string]float64{}}
	c := f.o.Cases[number]
	var own []*Statistic
	for k := range f.o.Statistics {
		if s := &f.o.Statistics[k]; s.Group == g && s.applies(c) {
			own = append(own, s)
		}
	}
	if len(own) == 0 {
		return out, nil
	}
	of, measured := means{}, means{}
	in := f.scenarios[number].In(p)
	for _, seed := range f.o.Seeds {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		one, err := f.store.outcome(in, seed, f.o.Count, g, own)
		if err != nil {
			return out, fmt.Errorf("%s, seed %d: %w", c.Shape, seed, err)
		}
		out.classifier, out.rows = one.Classifier, one.Rows
		of.add(one.Of)
		measured.add(one.Measured)
	}
	for _, s := range own {
		out.of[s.Name] = of.mean(s.Name)
		if s.Measured != nil {
			out.measured[s.Name] = measured.mean(s.Name)
		}
	}
	return out, nil
}

// means are sums and counts by name.
type means map[string][2]float64

func (m means) add(values map[string]*float64) {
	for name, v := range values {
		if v != nil {
			m[name] = [2]float64{m[name][0] + *v, m[name][1] + 1}
		}
	}
}

// mean is NaN of nothing.
func (m means) mean(name string) float64 { return m[name][0] / m[name][1] }

// reached is the world file.
func (f *fitter) reached(ctx context.Context, p truth.Parameters) (*truth.Calibration, error) {
	out := &truth.Calibration{Format: truth.CalibrationFormat, Seeds: f.o.Seeds, Count: f.o.Count, Parameters: p}
	for i, c := range f.o.Cases {
		f.tell(1, c.Shape)
		for _, g := range groups() {
			v, err := f.values(ctx, p, i, g)
			if err != nil {
				return nil, err
			}
			for k := range f.o.Statistics {
				if s := &f.o.Statistics[k]; s.Group == g && s.applies(c) {
					out.Reached = append(out.Reached, s.line(c, v, f.scenarios[i].Entries()))
				}
			}
		}
	}
	return out, nil
}

// line is a statistic of a shape in the world file. Of what a shape has nothing of, nothing is
// asked.
func (s *Statistic) line(c Case, v values, entries int) truth.Reached {
	out := truth.Reached{
		Shape: c.Shape, Scenario: c.Scenario, Classifier: v.classifier, Rows: v.rows, Entries: entries,
		Statistic: s.Name, Source: s.Source, Unit: s.Unit, Published: s.Published, Tolerance: s.Tolerance, Bound: s.Use == Bound, Holds: true,
	}
	if reached := v.of[s.Name]; !math.IsNaN(reached) {
		shown, residual := printed(reached), printed(reached-s.Published)
		out.Reached, out.Residual, out.Holds = &shown, &residual, s.holds(reached)
	}
	if measured, ok := v.measured[s.Name]; ok && !math.IsNaN(measured) {
		shown := printed(measured)
		out.Measured = &shown
	}
	return out
}

// printed to hundredths.
func printed(v float64) float64 { return math.Round(100*v) / 100 }

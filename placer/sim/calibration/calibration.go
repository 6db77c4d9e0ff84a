package calibration

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// Seeds are what a world is fitted on. No scenario has any of them, and a test says so.
func Seeds() []uint64 { return []uint64{7001, 7002, 7003} }

// DefaultCount is how many programs of each population are judged under a seed (chosen by us: what
// differs most between seeds is which rows teach, so that more seeds tell more than more programs).
const DefaultCount = 120

// Options of a calibration.
type Options struct {
	Scenarios  fs.FS // the files that Cases name
	Cases      []Case
	Statistics []Statistic
	Seeds      []uint64
	Count      int    // programs of each population, by seed
	Work       string // a folder that keeps what was drawn and judged; empty: none
	// Progress is called with the share done, 0 to 1.
	Progress func(share float64, what string)
}

// Errors of Run. But for ErrOptions they come with what was reached, which is no world.
var (
	// ErrContradiction: a bound that does not hold is one that a fit to it alone can hold.
	ErrContradiction = errors.New("calibration: published statistics contradict each other in this world")
	// ErrNotConverged: steps still lessened the misfit when the rounds were over.
	ErrNotConverged = errors.New("calibration: the fit does not converge")
	// ErrOutside: the fit ended, and a shape is outside a bound that no fit holds.
	ErrOutside = errors.New("calibration: a shape is outside of what is published")
	// ErrOptions: there is nothing to fit, or to fit it on.
	ErrOptions = errors.New("calibration: bad options")
)

// Run fits a world. The same options give the same bytes.
func Run(ctx context.Context, o Options) (*truth.Calibration, error) {
	f, err := newFitter(o)
	if err != nil {
		return nil, err
	}
	at := Start()
	var loose []string // groups that did not converge
	for i, g := range groups() {
		found, err := f.fit(ctx, g, at, float64(i)/float64(len(groups())), func(s *Statistic) bool { return s.Use != Shown })
		if err != nil {
			return nil, err
		}
		if at = found.at; !found.converged {
			loose = append(loose, fmt.Sprintf("%s: a misfit of %.3g after %d rounds", g, found.misfit, mostRounds))
		}
	}
	out, err := f.reached(ctx, at)
	if err != nil {
		return nil, err
	}
	if len(loose) > 0 {
		return out, fmt.Errorf("%w:\n%s", ErrNotConverged, strings.Join(append(loose, residuals(out, true)...), "\n"))
	}
	return out, f.judge(ctx, out)
}

// Check is what a world has of the statistics, without a fit.
func Check(ctx context.Context, o Options, p truth.Parameters) (*truth.Calibration, error) {
	f, err := newFitter(o)
	if err != nil {
		return nil, err
	}
	return f.reached(ctx, p)
}

// judge says whether bounds do not hold, and which of them could, alone.
func (f *fitter) judge(ctx context.Context, out *truth.Calibration) error {
	broken := residuals(out, false)
	if len(broken) == 0 {
		return nil
	}
	var alone []string
	for k := range f.o.Statistics {
		s := &f.o.Statistics[k]
		if !slices.ContainsFunc(out.Reached, func(r truth.Reached) bool { return r.Statistic == s.Name && r.Bound && !r.Holds }) {
			continue
		}
		ok, err := f.reachable(ctx, s, out.Parameters)
		if err != nil {
			return err
		}
		if ok {
			alone = append(alone, s.Name+" holds on every shape where nothing else is fitted to")
		}
	}
	if len(alone) > 0 {
		return fmt.Errorf("%w:\n%s", ErrContradiction, strings.Join(append(broken, alone...), "\n"))
	}
	return fmt.Errorf("%w:\n%s", ErrOutside, strings.Join(broken, "\n"))
}

// reachable reports whether a fit to one statistic alone holds it on every shape.
func (f *fitter) reachable(ctx context.Context, s *Statistic, from truth.Parameters) (bool, error) {
	found, err := f.fit(ctx, s.Group, from, 1, func(other *Statistic) bool { return other.Name == s.Name })
	if err != nil {
		return false, err
	}
	for i, c := range f.o.Cases {
		v, err := f.values(ctx, found.at, i, s.Group)
		if err != nil {
			return false, err
		}
		if reached, ok := v.of[s.Name]; s.applies(c) && ok && !math.IsNaN(reached) && !s.holds(reached) {
			return false, nil
		}
	}
	return true, nil
}

// residuals of the bounds that do not hold, or of all, a line each.
func residuals(c *truth.Calibration, all bool) []string {
	var lines []string
	for _, r := range c.Reached {
		if r.Bound && (all || !r.Holds) && r.Reached != nil {
			lines = append(lines, fmt.Sprintf("%s: %s: published %g %s, reached %g, residual %+g", r.Shape, r.Statistic, r.Published, r.Unit, *r.Reached, *r.Residual))
		}
	}
	return lines
}

package profiler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// SpeedsFile is what a run without a workload leaves in ResultDir.
const SpeedsFile = "kernel-speeds.json"

// Speeds is how fast kernels are on a machine by themselves, each at its top.
type Speeds struct {
	Format  int           `json:"format"` // RequestFormat
	NodeID  string        `json:"node_id"`
	Taken   time.Time     `json:"taken"`
	Kernels []KernelSpeed `json:"kernels"`
}

// KernelSpeed is that of one kernel.
type KernelSpeed struct {
	Source    interference.Source `json:"source"`
	OpsPerSec float64             `json:"ops_per_second,omitempty"` // of a thread; 0: not known
	Unknown   string              `json:"unknown,omitempty"`        // why not
}

// Check refuses what no run can have measured.
func (s Speeds) Check() error {
	if s.Format != RequestFormat {
		return fmt.Errorf("has format %d, this release reads %d: run nomad-placer and nomad-driver-ibench of one release", s.Format, RequestFormat)
	}
	for _, k := range s.Kernels {
		if _, err := interference.ParseSource(string(k.Source)); err != nil {
			return err
		}
		if !(k.OpsPerSec >= 0) || math.IsInf(k.OpsPerSec, 0) {
			return fmt.Errorf("%s does %g operations per second", k.Source, k.OpsPerSec)
		}
	}
	return nil
}

// Bounds of a run without a workload, chosen by us: the median of three windows withstands one in
// which something else happened.
const (
	speedWindow  = 250 * time.Millisecond // where the kernel asks for no longer one
	speedWindows = 3
)

// Why a kernel has no speed.
var (
	errNoTime  = errors.New("there was no time left for it")
	errNoSpeed = errors.New("the kernel did nothing")
)

// MeasureSpeeds runs the kernels of a request one after the other, in its order, each for its part of
// the time that is left. One that cannot be measured, or that there is no time for, is left without a
// number. What is measured when ctx ends is returned with its error.
func MeasureSpeeds(ctx context.Context, r Request, b Bench, c Clock) (Speeds, error) {
	out := Speeds{Format: RequestFormat, NodeID: r.NodeID, Taken: c.Now()}
	end := out.Taken.Add(time.Duration(r.Seconds) * time.Second)
	var inTheWay error // a kernel that has not ended
	for i, source := range r.Sources {
		speed, err := 0.0, cmp.Or(inTheWay, errNoTime)
		if left := end.Sub(c.Now()); left > 0 && inTheWay == nil {
			bounded, cancel := context.WithTimeout(ctx, left)
			speed, err = kernelSpeed(bounded, source, b, c, left/time.Duration(len(r.Sources)-i))
			cancel()
		}
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		k := KernelSpeed{Source: source, OpsPerSec: speed}
		switch {
		case err != nil && speed > 0: // it was measured, and did not end then
			inTheWay = err
		case err != nil:
			k = KernelSpeed{Source: source, Unknown: err.Error()}
		}
		out.Kernels = append(out.Kernels, k)
	}
	return out, nil
}

// kernelSpeed is the median of as many windows as fit into a time, of one at least. An error with a
// speed is of a kernel that did not end.
func kernelSpeed(ctx context.Context, s interference.Source, b Bench, c Clock, within time.Duration) (speed float64, err error) {
	end := c.Now().Add(within)
	k, err := b.Kernel(ctx, s)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	if err := k.Set(ctx, topLevel); err != nil {
		return 0, err
	}
	if settler, ok := k.(Settler); ok {
		if err := settler.Settle(ctx); err != nil {
			return 0, err
		}
	}
	window := speedWindow
	if paced, ok := k.(Paced); ok {
		window = max(window, paced.Window())
	}
	var speeds []float64
	for len(speeds) < speedWindows && (len(speeds) == 0 || c.Now().Add(window).Before(end)) {
		v, err := oneSpeed(ctx, k, c, window)
		if err != nil {
			return 0, err
		}
		speeds = append(speeds, v)
	}
	return stat.Median(speeds), nil
}

func oneSpeed(ctx context.Context, k Kernel, c Clock, window time.Duration) (float64, error) {
	before, err := k.Stats(ctx)
	if err != nil {
		return 0, err
	}
	if err := c.Sleep(ctx, window); err != nil {
		return 0, err
	}
	after, err := k.Stats(ctx)
	if err != nil {
		return 0, err
	}
	v := k.Speed(before, after)
	if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return 0, errNoSpeed
	}
	return v, nil
}

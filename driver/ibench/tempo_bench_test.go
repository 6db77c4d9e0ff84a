package ibench

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
)

// BenchmarkTempo says how much the clock of this machine's cores wanders, and what a
// Tempo takes out of it. One operation is a second of a loop in registers on every
// CPU (two at most). Its metrics are of the natural logarithm of speeds, times 100:
//
//	sd%       standard deviation over stretches of 5 ms
//	cpus-r    correlation of two CPUs over these stretches
//	ratioW%   standard deviation of the ratio of two neighbouring windows of W ms
//	steadyW%  the same with the change of the Tempo taken out
//
// `go test ./driver/ibench -run '^$' -bench 'Tempo$' -benchtime 30x` takes half a minute.
func BenchmarkTempo(b *testing.B) {
	cpus, err := AllowedCPUs()
	if err != nil {
		b.Fatal(err)
	}
	cpus = cpus[:min(2, len(cpus))]
	tempo := StartTempo()
	speeds := make([][]float64, len(cpus))
	pairs := make([]windowPairs, len(spinWindows))
	for b.Loop() {
		begun := time.Now()
		second := spinAll(b, cpus, begun)
		for i := range cpus {
			speeds[i] = append(speeds[i], second[i]...)
		}
		for i, window := range spinWindows {
			pairs[i].add(second[0], window, begun, tempo)
		}
	}
	if err := tempo.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(100*stat.StdDev(speeds[0], nil), "sd%")
	if len(cpus) > 1 {
		b.ReportMetric(stat.Correlation(speeds[0], speeds[1], nil), "cpus-r")
	}
	for i, window := range spinWindows {
		b.ReportMetric(100*stat.StdDev(pairs[i].raw, nil), fmt.Sprintf("ratio%d%%", window*spinStretchMS))
		b.ReportMetric(100*stat.StdDev(pairs[i].steady, nil), fmt.Sprintf("steady%d%%", window*spinStretchMS))
	}
}

// spinWindows are windows in stretches.
var spinWindows = []int{4, 20, 50}

// windowPairs are the log ratios of neighbouring windows, raw and with the change of
// the tempo taken out.
type windowPairs struct{ raw, steady []float64 }

func (p *windowPairs) add(speeds []float64, window int, begun time.Time, tempo *Tempo) {
	at := func(stretch int) time.Time {
		return begun.Add(time.Duration(stretch) * spinStretchMS * time.Millisecond)
	}
	for i := 0; i+2*window <= len(speeds); i += 2 * window {
		half, end := i+window, i+2*window
		ratio := stat.Mean(speeds[half:end], nil) - stat.Mean(speeds[i:half], nil)
		change := math.Log(tempo.Mean(at(half), at(end)) / tempo.Mean(at(i), at(half)))
		if math.IsNaN(change) {
			continue // too few beats
		}
		p.raw = append(p.raw, ratio)
		p.steady = append(p.steady, ratio-change)
	}
}

const (
	spinStretchMS = 5
	spinStretches = 1000 / spinStretchMS // in one operation
)

// spinAll runs the loop for a second on all cpus at once: log speeds of stretches.
func spinAll(b *testing.B, cpus []int, begun time.Time) [][]float64 {
	b.Helper()
	speeds, errs := make([][]float64, len(cpus)), make([]error, len(cpus))
	var wait sync.WaitGroup
	for i, cpu := range cpus {
		wait.Go(func() { speeds[i], errs[i] = spin(cpu, begun) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
	return speeds
}

// spin multiplies on one CPU; its thread ends with it.
func spin(cpu int, begun time.Time) ([]float64, error) {
	runtime.LockOSThread()
	if err := pinThread(0, []int{cpu}); err != nil {
		return nil, err
	}
	speeds := make([]float64, spinStretches)
	x := uint64(cpu)
	for i := range speeds {
		end := begun.Add(time.Duration(i+1) * spinStretchMS * time.Millisecond)
		from, chains := time.Now(), 0
		for time.Now().Before(end) || chains == 0 {
			x = multiply(x)
			chains++
		}
		speeds[i] = math.Log(float64(chains) / time.Since(from).Seconds())
	}
	runtime.KeepAlive(x)
	return speeds, nil
}

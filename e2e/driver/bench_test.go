//go:build e2e

package driver

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// The windows of the paired test: ABBA blocks, so that a steady drift of the
// machine cancels out.
const (
	victimWindow = 100 * time.Millisecond
	victimBlocks = 60
)

// BenchmarkDriverOnVictim compares a busy program's speed with the idle plugin
// there and with it stopped, in pairs, and reports the loss and by how much its
// interval stays clear of 0.
func BenchmarkDriverOnVictim(b *testing.B) {
	plugin := processes(b, mainNode, "")
	if len(plugin) != 1 {
		b.Fatalf("%d plugin processes on the node, want one", len(plugin))
	}
	defer resume(b, plugin[0])
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var present, absent []float64
	for b.Loop() {
		for range victimBlocks {
			for _, there := range []bool{true, false, false, true} {
				if there {
					resume(b, plugin[0])
					present = append(present, speed())
				} else {
					signal(b, plugin[0], unix.SIGSTOP)
					absent = append(absent, speed())
				}
			}
		}
	}
	ratio := stat.RatioMedian(present, absent, 0.95)
	b.ReportMetric(100*(1-ratio.Center), "loss-%")
	b.ReportMetric(100*max(0, 1-ratio.High), "loss-beyond-interval-%")
}

// speed is how often a small piece of work is done in a second.
func speed() float64 {
	const piece = 20000
	began, sum, pieces := time.Now(), uint64(1), 0
	for time.Since(began) < victimWindow {
		for i := range uint64(piece) {
			sum = sum*6364136223846793005 + i
		}
		pieces++
	}
	runtime.KeepAlive(sum)
	return float64(pieces) / time.Since(began).Seconds()
}

func resume(b *testing.B, pid int) { signal(b, pid, unix.SIGCONT) }

func signal(b *testing.B, pid int, s syscall.Signal) {
	b.Helper()
	if err := unix.Kill(pid, s); err != nil {
		b.Fatal(err)
	}
}

package profiler

import (
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// ThreadTime is how long a thread has run, and how many times it then waited for something of
// its own accord: that others were let run first does not count.
type ThreadTime struct {
	Ran   time.Duration
	Waits int64
}

// runLength is how long the threads of a workload run at a time, until they wait for
// something or the scheduler lets others run: the mean of each, weighted by the CPU time that it
// used. So long is, on average, the run during which somebody else comes who wants the CPU (that
// of a renewal process is found by the length of its intervals; Cox 1962, §5.2), as far as the
// runs of one thread are alike. What threads used that have ended counts as runs of
// interference.LongestRun: a process that is started and ends soon computes meanwhile.
// ok is false where no thread was read.
func runLength(before, after CPUTime) (length time.Duration, ok bool) {
	if len(before.Threads) == 0 || len(after.Threads) == 0 {
		return 0, false
	}
	const longest = float64(interference.LongestRun)
	var ran, weighted float64
	for id, now := range after.Threads {
		then := before.Threads[id] // nothing where it was started since
		used, waits := float64(now.Ran-then.Ran), now.Waits-then.Waits
		if used > 0 && waits >= 0 { // else another got its identifier
			ran += used
			weighted += used * min(longest, used/float64(max(1, waits)))
		}
	}
	if rest := float64(after.Used-before.Used) - ran; rest > 0 {
		ran += rest
		weighted += rest * longest
	}
	return time.Duration(weighted / max(1, ran)), ran > 0
}

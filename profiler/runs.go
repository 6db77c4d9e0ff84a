package profiler

import "time"

// ThreadTime is how long a thread has run, and how many times it was given a CPU for it.
type ThreadTime struct {
	Ran  time.Duration
	Runs int64
}

// leastExplained: where less of the CPU time is that of threads which were there all the
// time, how long they run at a time says nothing of the workload (chosen by us).
const leastExplained = 0.5

// runLength is how long the threads of a workload run at a time, until they wait for
// something: the mean of each, weighted by the CPU time that it used. So long is, on average,
// the run during which somebody else comes who wants the CPU (that of a renewal process is
// found by the length of its intervals; Cox 1962, §5.2), as far as the runs of one thread are
// alike. ok is false where it is not known.
func runLength(before, after CPUTime) (length time.Duration, ok bool) {
	var ran, weighted float64
	for id, then := range before.Threads {
		now, there := after.Threads[id]
		used, runs := now.Ran-then.Ran, now.Runs-then.Runs
		if !there || used <= 0 || runs < 0 {
			continue
		}
		ran += float64(used)
		weighted += float64(used) * float64(used) / float64(max(1, runs))
	}
	if ran < leastExplained*float64(after.Used-before.Used) || ran == 0 {
		return 0, false
	}
	return time.Duration(weighted / ran), true
}

package profiler

import "time"

// ThreadTime is how long a thread has run, and how many times it was given a CPU for it.
type ThreadTime struct {
	Ran  time.Duration
	Runs int64
}

// since is what a thread ran after an earlier reading; ok is false if it did not, or if another
// thread got its identifier.
func (t ThreadTime) since(then ThreadTime) (ThreadTime, bool) {
	d := ThreadTime{t.Ran - then.Ran, t.Runs - then.Runs}
	return d, d.Ran > 0 && d.Runs >= 0
}

// runLength is how long the threads of a workload run at a time, until they wait for
// something: the mean of each, weighted by the CPU time that it used. So long is, on average,
// the run during which somebody else comes who wants the CPU (that of a renewal process is
// found by the length of its intervals; Cox 1962, §5.2), as far as the runs of one thread are
// alike. CPU time of threads that were not there at both readings counts as that of those
// which were seen at one of them; ok is false where none were.
func runLength(before, after CPUTime) (length time.Duration, ok bool) {
	stayed, passed := runSum{}, runSum{}
	for id, then := range before.Threads {
		now, there := after.Threads[id]
		if d, ran := now.since(then); there && ran {
			stayed.add(d)
		} else if !there {
			passed.add(then)
		}
	}
	for id, now := range after.Threads {
		if _, there := before.Threads[id]; !there {
			passed.add(now)
		}
	}
	rest := max(0, float64(after.Used-before.Used)-stayed.ran)
	if passed.ran == 0 {
		if rest > leastExplained*float64(after.Used-before.Used) {
			return 0, false
		}
		rest = 0
	}
	if stayed.ran+rest <= 0 {
		return 0, false
	}
	return time.Duration((stayed.weighted + rest*passed.mean()) / (stayed.ran + rest)), true
}

// leastExplained: where more of the CPU time is that of threads of which nothing was seen,
// the others say nothing of the workload (chosen by us).
const leastExplained = 0.5

// runSum adds up threads: the nanoseconds that they ran, and those times how long each of
// them ran at a time.
type runSum struct{ ran, weighted float64 }

func (s *runSum) add(t ThreadTime) {
	ran := float64(t.Ran)
	s.ran += ran
	s.weighted += ran * ran / float64(max(1, t.Runs))
}

// mean is in nanoseconds.
func (s runSum) mean() float64 {
	if s.ran == 0 {
		return 0
	}
	return s.weighted / s.ran
}

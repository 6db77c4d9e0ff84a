package predict

import (
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// TimePressure is the intensity of a kernel that is as bad for a resident as co-runners that take
// a part of the CPU time from it (TimeTaken, percent) through source k. For throughput, and where
// the length of somebody's runs is not known, that is this part; for a bound on a latency see
// DelayPressure.
func TimePressure(taken float64, coRunners []TimeDemand, on *board.Resident, k int) float64 {
	if on.LateShare == 0 || k >= len(on.Tolerated) {
		return taken
	}
	var runs time.Duration
	for _, d := range coRunners {
		if d.Run <= 0 {
			return taken
		}
		runs += min(interference.LongestRun, d.Run)
	}
	return DelayPressure(taken, runs, on.Tolerated[k], on.LateShare)
}

// DelayPressure is the intensity of a kernel that makes as many requests late as co-runners do
// that take a part of the CPU time, percent, and run for a time in all before they let a waiting
// request go first. A request waits for what is left of their runs: whether it is late depends on
// how long those are, and on how much of the time they take only how many are. The kernel of
// intensity x runs for x % of each interference.KernelPeriod. Where the share lateShare is late at
// intensity t, a request may wait for t less that share: its slack. Co-runners that take the part
// d in runs of length w, both in percent of the period, make d·(1 − slack/w) late, the kernel
// x − slack.
func DelayPressure(takenPercent float64, runs time.Duration, toleratedPercent, lateShare float64) float64 {
	slack := max(0, toleratedPercent-100*lateShare)
	length := 100 * float64(runs) / float64(interference.KernelPeriod)
	if length <= slack {
		return length
	}
	return min(100, slack+takenPercent*(1-slack/length))
}

package predict

import (
	"math"
	"time"
)

// TimeDemand is what one workload asks of CPUs that it shares with others.
type TimeDemand struct {
	// Amount is the CPU time that it uses with nobody else there, in the unit of the
	// capacity. What is not known (NaN) is all that it can get.
	Amount float64
	Weight float64 // in the division of contended time; 0 or less gets what others leave
	Limit  float64 // its quota, in the unit of the capacity; 0: none
	// Run is how long it runs at a time; 0 is not known. It decides nothing about amounts.
	Run time.Duration
}

// wants is the most that it takes.
func (d TimeDemand) wants(capacity float64) float64 {
	most := capacity
	if d.Limit > 0 {
		most = min(most, d.Limit)
	}
	if !(d.Amount >= 0) {
		return most
	}
	return min(most, d.Amount)
}

// leastWeight keeps a workload without weight divisible (chosen by us: next to Linux's
// least weight of 1 it gets nothing that can be measured).
const leastWeight = 1e-6

// TimeShares is the CPU time that each of the workloads on a set of CPUs gets, in the unit
// of the capacity: weighted max-min fairness, as Linux schedules (CFS and EEVDF; Demers,
// Keshav and Shenker 1989, §2). Who wants no more than its part by weight gets that, and
// keeps it when others come; the others divide what is left by weight. Computed from
// weights, quotas and demands: nothing of it has to be measured next to each other. It
// says how much time a workload gets, not when: see Stretched. O(workloads²).
func TimeShares(capacity float64, demands []TimeDemand) []float64 {
	return timeShares(make([]float64, len(demands)), capacity, demands)
}

// timeShares writes into granted, which is as long as demands.
func timeShares(granted []float64, capacity float64, demands []TimeDemand) []float64 {
	left, weights := capacity, 0.0
	for i, d := range demands {
		granted[i] = math.NaN() // not settled yet
		weights += max(leastWeight, d.Weight)
	}
	for settled := true; settled; {
		settled = false
		for i, d := range demands {
			w, wants := max(leastWeight, d.Weight), d.wants(capacity)
			if math.IsNaN(granted[i]) && wants*weights <= left*w {
				granted[i], settled = wants, true
				left, weights = max(0, left-wants), weights-w
			}
		}
	}
	for i, d := range demands {
		if math.IsNaN(granted[i]) {
			granted[i] = left * max(leastWeight, d.Weight) / weights
		}
	}
	return granted
}

// TimeTaken is the part of a capacity that co-runners take from a workload of a weight that
// would use all of it.
func TimeTaken(capacity, weight float64, coRunners []TimeDemand) float64 {
	all := append(coRunners[:len(coRunners):len(coRunners)], TimeDemand{})
	return timeTaken(make([]float64, len(all)), capacity, weight, all)
}

// timeTaken is TimeTaken by all but the last of them, with granted as storage, which is as long.
func timeTaken(granted []float64, capacity, weight float64, all []TimeDemand) float64 {
	last := len(all) - 1
	all[last] = TimeDemand{Amount: math.NaN(), Weight: weight}
	return capacity - timeShares(granted, capacity, all)[last]
}

// Stretched is the share of its throughput that a workload keeps which works the part duty
// of its time and is left the part left of the CPU whenever it works: the time in which it
// works gets longer, the rest stays (processor sharing; decision 0017). TimeShares says the
// same workload loses nothing, if what it wants is no more than its part: it is served,
// later. The truth is between the two, nearer to TimeShares where the scheduler lets who has
// slept go first.
func Stretched(duty, left float64) float64 {
	if !(left > 0) {
		return 0
	}
	return 1 / (1 - duty + duty/left)
}

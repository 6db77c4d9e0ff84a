package admission

import "time"

// Reporter is a controller that keeps account of what it did.
type Reporter interface{ Report() Report }

// Report is the account of a run so far.
type Report struct {
	Classes []ClassReport // of quality, ascending; one for a controller without classes
	Waits   WaitReport    // of Tarcil's estimates
	Plans   PlanReport    // of LoTES
	Sides   SideReport    // of HCloud
}

// SideReport counts where jobs went between owned and rented nodes.
type SideReport struct {
	Base, Rented   int // jobs placed
	Queued         int // that waited for the base
	Denied         int // that found the provider without a node
	Released       int // rented nodes given back
	ReleasedAtOnce int // of them, because they were not good enough for a job
	Waits          []WaitSample
}

// WaitSample is a wait for the base as it was estimated when it began, and as it was.
type WaitSample struct {
	Class             string // type of node that the job would have been rented
	Estimated, Waited time.Duration
}

// PlanReport counts long-term plans.
type PlanReport struct {
	Made, Failed int // without one, everything goes by first fit
	Unplanned    int // classes that no machine could hold
	Permuted     int // machines whose planned mix a new plan changed
	Anywhere     int // items that took any room: no machine was planned for them, or they had waited too long
}

// WaitReport compares waits for suitable units with their estimates.
type WaitReport struct {
	Held    int // made to wait
	Expired int // waited to their bound and were not placed
	Served  int // placed while they waited; the means are over these
	// Estimated and Waited are summed.
	Estimated, Waited time.Duration
}

func (w *WaitReport) add(estimated, waited time.Duration) {
	w.Served++
	w.Estimated += estimated
	w.Waited += waited
}

// ClassReport is the account of the items that arrived with one class.
type ClassReport struct {
	Arrived, Placed int
	Up, Down        int // placed in a pool above or below the own class
	Forced          int // took any room there was, or found none
	Diverted        int // moves to the queue below
	Late            int // placed after the end of their window
	Waited          time.Duration
	LongestWait     time.Duration
	// Busy is the distribution of the class's busy periods; empty while too few
	// are known.
	Busy         string
	BusyMean     time.Duration
	BusyDistance float64 // Kolmogorov-Smirnov
}

// Report implements Reporter.
func (c *arq) Report() Report {
	out := Report{Classes: make([]ClassReport, c.classes)}
	copy(out.Classes, c.report.Classes)
	for l := range out.Classes {
		if fit := c.pools.busy[l].fit; fit.Distribution != nil {
			r := &out.Classes[l]
			r.Busy, r.BusyDistance = fit.Distribution.Name(), fit.Distance
			r.BusyMean = time.Duration(fit.Distribution.Mean() * float64(time.Second))
		}
	}
	return out
}

// placed counts an item that has gone.
func (r *Report) placed(now Instant, w *waiting) {
	q := &w.quality
	c := &r.Classes[q.own]
	c.wait(now - w.item.Ready)
	switch {
	case q.pool > q.own:
		c.Up++
	case q.pool != anyPool && q.pool < q.own:
		c.Down++
	}
	if now > q.deadline {
		c.Late++
	}
}

func (c *ClassReport) wait(d time.Duration) {
	c.Placed++
	c.Waited += d
	c.LongestWait = max(c.LongestWait, d)
}

package provision

import "time"

// RetainedFor is how many times its spin-up an idle rented node is kept (§8.3.2).
const RetainedFor = 10

// Idle is a rented node without a job.
type Idle struct {
	Since   time.Time
	SpinUp  time.Duration // what it took to start
	Behaved bool          // it was good enough for the jobs it had
}

// KeptUntil is when an idle node is given back: at once where it was not good enough for a job.
func (n Idle) KeptUntil(times float64) time.Time {
	if !n.Behaved {
		return n.Since
	}
	return n.Since.Add(time.Duration(times * float64(n.SpinUp)))
}

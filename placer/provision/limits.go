package provision

import "time"

// Limits are the shares of the base's use between which jobs are sorted. The hard limit and the
// gains are ours: those of the text are lost with its figures.
type Limits struct {
	Soft, Hard float64

	Step    time.Duration // of the feedback
	Fall    float64       // of the soft limit for each job per second by which the queue grows, per step
	Rise    float64       // per step, once the queue has been empty for Quiet
	Quiet   time.Duration
	Lowest  float64
	Between float64 // the soft limit stays so far below the hard one
}

// DefaultLimits are those of §8.4.2 where it has them: the soft limit was found between 60 and
// 65 %, 90 % is too much, and the base is used to 80 % on average.
func DefaultLimits() Limits {
	return Limits{Soft: 0.625, Hard: 0.85, Step: 10 * time.Second, Fall: 0.02, Rise: 0.0025, Quiet: time.Minute, Lowest: 0.40, Between: 0.05}
}

// SoftLimit follows the queue: it falls while that grows and rises when it is empty for long
// (§8.4.2: "linear transfer functions").
type SoftLimit struct {
	limits Limits
	now    float64
	at     time.Time // of the last step
	queue  int       // then
	empty  time.Time // since when; zero: it is not
}

// NewSoftLimit begins at a time with an empty queue.
func NewSoftLimit(l Limits, at time.Time) *SoftLimit {
	return &SoftLimit{limits: l, now: l.Soft, at: at, empty: at}
}

// Value is the limit now.
func (s *SoftLimit) Value() float64 { return s.now }

// Step is taken every Limits.Step with the length of the queue.
func (s *SoftLimit) Step(at time.Time, queue int) {
	took := at.Sub(s.at).Seconds()
	if took <= 0 {
		return
	}
	growth, steps := float64(queue-s.queue)/took, took/s.limits.Step.Seconds()
	switch {
	case queue > 0:
		s.empty = time.Time{}
	case s.empty.IsZero():
		s.empty = at
	}
	if growth > 0 {
		s.now -= s.limits.Fall * growth * steps
	}
	if queue == 0 && at.Sub(s.empty) >= s.limits.Quiet {
		s.now += s.limits.Rise * steps
	}
	s.now = min(s.limits.Hard-s.limits.Between, max(s.limits.Lowest, s.now))
	s.at, s.queue = at, queue
}

package machine

import (
	"time"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
)

// Stolen is what the host had taken of each CPU, for its other guests, at a moment.
type Stolen struct {
	at   time.Time
	each time.Duration
	err  error
}

// StolenNow reads it of the CPUs that this process may use.
func StolenNow() Stolen {
	s := Stolen{at: time.Now()}
	cpus, err := ibench.AllowedCPUs()
	if err != nil {
		s.err = err
		return s
	}
	s.each, s.err = executor.Proc{Root: "/proc"}.Stolen(cpus)
	return s
}

// PercentSince is the share of the CPU time that was stolen since before; nil is not
// known.
func (s Stolen) PercentSince(before Stolen) *float64 {
	took := s.at.Sub(before.at)
	if s.err != nil || before.err != nil || took <= 0 {
		return nil
	}
	percent := 100 * float64(s.each-before.each) / float64(took)
	return &percent
}

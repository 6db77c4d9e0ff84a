package main

import (
	"time"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
)

// stolen is what the host had taken of each CPU, for its other guests, at a moment.
type stolen struct {
	at   time.Time
	each time.Duration
	err  error
}

func stolenNow() stolen {
	s := stolen{at: time.Now()}
	cpus, err := ibench.AllowedCPUs()
	if err != nil {
		s.err = err
		return s
	}
	s.each, s.err = executor.Proc{Root: "/proc"}.Stolen(cpus)
	return s
}

// percentSince is the share of the CPU time that was stolen since before; nil is not
// known.
func (s stolen) percentSince(before stolen) *float64 {
	took := s.at.Sub(before.at)
	if s.err != nil || before.err != nil || took <= 0 {
		return nil
	}
	percent := 100 * float64(s.each-before.each) / float64(took)
	return &percent
}

package validate

import (
	"context"
	"errors"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// measureOffTarget measures what a kernel at 100 costs the victim of another
// source. Kernel and victim are on the CPUs that crossTalk uses.
func (s *session) measureOffTarget(ctx context.Context, from, of interference.Source) (OffTarget, error) {
	out := OffTarget{From: from, Victim: of}
	v, ok := victimOf(of)
	if !ok {
		return out, errors.New("this source has no victim")
	}
	exerting, _ := s.layout.pair(from, of)
	out.Placement = exerting.Name
	k, err := s.cast.aggressor(ctx, from, exerting)
	if err != nil {
		return out, err
	}
	w, err := s.cast.victim(ctx, v, v.spec(s.machine, s.layout))
	if err != nil {
		return out, err
	}
	w.Run()
	defer w.Pause()
	out.Loss, err = s.fullPressure(ctx, k, s.workerWindow(w), v.length(s.pace), excuse(from, of, out.Placement) != "")
	if err != nil {
		return out, err
	}
	out.Verdict, out.Why = judge(from, of, out.Placement, out.Loss)
	return out, nil
}

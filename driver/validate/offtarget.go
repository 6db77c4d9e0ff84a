package validate

import (
	"context"
	"errors"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// measureOffTarget measures what a kernel at 100 costs the victim of another
// source. Kernel and victim are on the CPUs that crossTalk uses.
func measureOffTarget(ctx context.Context, b bench, p pace, m ibench.Machine, l layout, from interference.Source, cast *cast, of interference.Source) (OffTarget, error) {
	out := OffTarget{From: from, Victim: of}
	v, ok := victimOf(of)
	if !ok {
		return out, errors.New("this source has no victim")
	}
	exerting, _ := l.pair(from, of)
	out.Placement = exerting.Name
	k, err := cast.aggressor(ctx, from, exerting)
	if err != nil {
		return out, err
	}
	w, err := cast.victim(ctx, v, v.spec(m, l))
	if err != nil {
		return out, err
	}
	w.Run()
	defer w.Pause()
	out.Loss, err = fullPressure(ctx, b, p, k, workerWindow(b, w), v.length(p), excuse(from, of, out.Placement) != "")
	if err != nil {
		return out, err
	}
	out.Verdict, out.Why = judge(from, of, out.Placement, out.Loss)
	return out, nil
}

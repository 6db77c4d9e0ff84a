package calibration

import "github.com/nomad-placer/nomad-placer/placer/sim/truth"

// The pattern search (Hooke and Jeeves 1961). Steps are halved so many times, after which a
// parameter is known to a tenth of its value or better; rounds bound the work (both chosen by us).
const (
	halvings   = 3
	mostRounds = 40
)

// searched is where a search ended.
type searched struct {
	at        truth.Parameters
	misfit    float64
	converged bool
}

// search moves one knob at a time, up or down by its step, as long as that lessens the misfit; where
// no move does, steps are halved. tell gets the share of the halvings that is done, 0 to 1.
func search(from truth.Parameters, knobs []knob, misfit func(truth.Parameters) (float64, error), tell func(share, misfit float64)) (searched, error) {
	out := searched{at: from}
	var err error
	if out.misfit, err = misfit(from); err != nil || len(knobs) == 0 {
		out.converged = true
		return out, err
	}
	scale, halved := 1.0, 0
	for range mostRounds {
		tell(float64(halved)/(halvings+1), out.misfit)
		moved := false
		for i := range knobs {
			better, err := out.along(&knobs[i], scale, misfit)
			if err != nil {
				return out, err
			}
			moved = moved || better
		}
		if moved {
			continue
		}
		if halved == halvings {
			out.converged = true
			return out, nil
		}
		halved, scale = halved+1, scale/2
	}
	return out, nil
}

// along tries both directions of a knob.
func (s *searched) along(k *knob, scale float64, misfit func(truth.Parameters) (float64, error)) (better bool, err error) {
	for _, step := range []float64{k.step * scale, -k.step * scale} {
		at := k.moved(s.at, step)
		if at == s.at {
			continue // at its bound
		}
		v, err := misfit(at)
		if err != nil {
			return false, err
		}
		if v < s.misfit {
			s.at, s.misfit = at, v
			return true, nil
		}
	}
	return false, nil
}

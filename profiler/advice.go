package profiler

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// adviceWord begins the text of an advice.
const adviceWord = "ADVICE="

// AdviceSignal is advice as the text of a signal to the task of a run, which Nomad passes on
// unchanged: the source to leave, a colon, and those to measure then.
func AdviceSignal(a profile.Advice) string {
	var names []string
	for _, s := range a.Sources {
		names = append(names, string(s))
	}
	return adviceWord + string(a.Leave) + ":" + strings.Join(names, ",")
}

// maxAdvice bounds how many sources an advice may name.
const maxAdvice = 64

// ParseAdvice reads what AdviceSignal writes; ok is false for a text that is no advice.
func ParseAdvice(text string) (a profile.Advice, ok bool, err error) {
	text, ok = strings.CutPrefix(text, adviceWord)
	if !ok {
		return a, false, nil
	}
	leave, then, found := strings.Cut(text, ":")
	if !found {
		return a, true, fmt.Errorf("advice %q: it is %sSOURCE:SOURCE,… with a colon after what is to be left", text, adviceWord)
	}
	if leave != "" {
		if a.Leave, err = interference.ParseSource(leave); err != nil {
			return profile.Advice{}, true, fmt.Errorf("advice: %w", err)
		}
	}
	a.Sources = []interference.Source{}
	for name := range strings.SplitSeq(then, ",") {
		if then == "" {
			break
		}
		s, err := interference.ParseSource(name)
		if err == nil && len(a.Sources) == maxAdvice {
			err = fmt.Errorf("more than %d sources", maxAdvice)
		}
		if err != nil {
			return profile.Advice{}, true, fmt.Errorf("advice: %w", err)
		}
		a.Sources = append(a.Sources, s)
	}
	return a, true, nil
}

// reviewing lets the source under measurement be reviewed until the returned function is
// called.
func (r *run) reviewing(source interference.Source, p *activeKernel, workload, kernel *side) (end func()) {
	r.left = false
	begun := r.clock.Now()
	r.sofar = func() profile.SoFar {
		now := r.clock.Now()
		out := r.out
		out.Complete, out.Taken = false, now
		out.Sensitivity = interference.Sensitivity{
			Tolerated: maps.Clone(r.out.Sensitivity.Tolerated), Caused: maps.Clone(r.out.Sensitivity.Caused),
		}
		out.Ramp, out.Warnings = slices.Clone(r.out.Ramp), slices.Clone(r.out.Warnings)
		r.record(&out, source, p, workload, kernel, nil)
		return profile.SoFar{
			Profile: out, Source: source, SourceSeconds: now.Sub(begun).Seconds(), Seconds: now.Sub(r.start).Seconds(), Left: slices.Clone(r.queue),
		}
	}
	return func() { r.sofar = nil }
}

// ask shows what is known by now, and follows the advice.
func (r *run) ask() {
	if r.review == nil || r.sofar == nil {
		return
	}
	a := r.review(r.sofar())
	r.left = r.left || a.Leave == r.source
	if a.Sources == nil {
		return
	}
	r.queue = r.queue[:0:0]
	for _, s := range a.Sources {
		_, measured := r.out.Sensitivity.Caused[s]
		if !measured && !slices.Contains(r.queue, s) && r.mayMeasure(s) {
			r.queue = append(r.queue, s)
		}
	}
}

func (r *run) mayMeasure(s interference.Source) bool {
	return slices.Contains(r.request.Sources, s) || slices.Contains(r.request.Further, s)
}

// ReadSoFar reads what a run leaves in SoFarFile. Who runs on the node may have written it:
// the profile in it is checked by who uses it, as that of a finished run is.
func ReadSoFar(data []byte) (profile.SoFar, error) {
	var s profile.SoFar
	if err := json.Unmarshal(data, &s); err != nil {
		return profile.SoFar{}, fmt.Errorf("what is measured so far: %w", err)
	}
	for _, source := range append([]interference.Source{s.Source}, s.Left...) {
		if _, err := interference.ParseSource(string(source)); err != nil {
			return profile.SoFar{}, fmt.Errorf("what is measured so far: %w", err)
		}
	}
	if !(s.Seconds >= 0 && s.SourceSeconds >= 0 && s.SourceSeconds <= s.Seconds && s.Seconds <= maxRemaining.Seconds()) {
		return profile.SoFar{}, fmt.Errorf("what is measured so far: %v of %v seconds", s.SourceSeconds, s.Seconds)
	}
	return s, nil
}

package sequence

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// Options of a study.
type Options struct {
	Arms     []Arm // compared with Full, which is run as well
	Seeds    []uint64
	Work     string // folder in which outcomes are kept; empty: nowhere
	Progress func(done, total int)
}

// Run carries out every arm under every seed. What is kept in the work folder is taken from
// there.
func Run(ctx context.Context, o Options) (*Report, error) {
	arms := append([]Arm{Full}, o.Arms...)
	kept, err := openKept(o.Work)
	if err != nil {
		return nil, err
	}
	defer kept.close()
	s := study{of: map[string]*population{}}
	outcomes := make([][]Outcome, len(arms))
	for i, seed := range o.Seeds {
		if err := s.seed(ctx, seed, arms, kept, outcomes); err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		if o.Progress != nil {
			o.Progress(i+1, len(o.Seeds))
		}
	}
	return report(arms, outcomes), nil
}

func (s *study) seed(ctx context.Context, seed uint64, arms []Arm, kept *kept, outcomes [][]Outcome) error {
	var drawn *scene
	for i, arm := range arms {
		out, ok := kept.get(arm, seed)
		if !ok {
			var err error
			if drawn == nil {
				if drawn, err = s.scene(ctx, seed); err != nil {
					return err
				}
			}
			if out, err = drawn.run(ctx, arm, seed); err != nil {
				return fmt.Errorf("%s: %w", arm.Name, err)
			}
			if err := kept.put(arm, out); err != nil {
				return err
			}
		}
		outcomes[i] = append(outcomes[i], out)
	}
	return nil
}

// keptFormat is raised when a change of the world or of the rule changes outcomes.
const keptFormat = 1

// keptFile holds one outcome a line.
const keptFile = "outcomes.jsonl"

// kept are the outcomes of earlier runs.
type kept struct {
	known map[string]Outcome
	file  *os.File
}

type keptLine struct {
	Key     string  `json:"key"`
	Outcome Outcome `json:"outcome"`
}

func openKept(folder string) (*kept, error) {
	k := &kept{known: map[string]Outcome{}}
	if folder == "" {
		return k, nil
	}
	path := filepath.Join(folder, keptFile)
	data, err := os.Open(path)
	switch {
	case err == nil:
		lines := bufio.NewScanner(data)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var l keptLine
			if json.Unmarshal(lines.Bytes(), &l) == nil { // the last line of a stopped run may be cut
				k.known[l.Key] = l.Outcome
			}
		}
		_ = data.Close() // read only
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	k.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	return k, err
}

func (k *kept) close() {
	if k.file != nil {
		_ = k.file.Close() // every line was written by a call of its own
	}
}

func key(arm Arm, seed uint64) string {
	text, _ := json.Marshal(arm) // numbers and texts only
	return fmt.Sprintf("%d %s %d", keptFormat, text, seed)
}

func (k *kept) get(arm Arm, seed uint64) (Outcome, bool) {
	o, ok := k.known[key(arm, seed)]
	return o, ok
}

func (k *kept) put(arm Arm, o Outcome) error {
	if k.file == nil {
		return nil
	}
	line, err := json.Marshal(keptLine{key(arm, o.Seed), o})
	if err == nil {
		_, err = k.file.Write(append([]byte("\n"), line...))
	}
	if err != nil {
		return fmt.Errorf("keep an outcome: %w", err)
	}
	return nil
}

// Report is what a study found.
type Report struct {
	Parts []Part `json:"parts"`
}

// Part is a part of the seeds.
type Part struct {
	Name  string `json:"name"`
	Lines []Line `json:"lines"`
}

// Line is one arm in a part.
type Line struct {
	Arm           string     `json:"arm"`
	Count         int        `json:"count"`
	MedianSeconds float64    `json:"median_seconds"`
	P90Seconds    float64    `json:"p90_seconds"`
	Sources       float64    `json:"sources"`
	Now           float64    `json:"now"`   // mean regret in points
	Later         float64    `json:"later"` // of decisions with the same profile
	WrongVerdicts float64    `json:"wrong_verdicts_percent"`
	ByNow         Difference `json:"by_now"` // from the full profile, paired
	ByLater       Difference `json:"by_later"`
}

// Difference is a mean of paired differences with its 95 % interval.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func report(arms []Arm, outcomes [][]Outcome) *Report {
	r := &Report{}
	for _, part := range []struct {
		name string
		of   func(Outcome) bool
	}{
		{"all", func(Outcome) bool { return true }},
		{"drawn applications", func(o Outcome) bool { return o.Population == "drawn" }},
		{"recorded profiles", func(o Outcome) bool { return o.Population == "recorded" }},
		{"robust jobs", func(o Outcome) bool { return o.Robust }},
	} {
		p := Part{Name: part.name}
		for i, arm := range arms {
			p.Lines = append(p.Lines, lineOf(arm.Name, outcomes[i], outcomes[0], part.of))
		}
		r.Parts = append(r.Parts, p)
	}
	return r
}

func lineOf(name string, own, full []Outcome, of func(Outcome) bool) Line {
	l := Line{Arm: name}
	var seconds, now, later []float64
	for i, o := range own {
		if !of(o) {
			continue
		}
		l.Count++
		seconds = append(seconds, o.Seconds)
		now, later = append(now, o.Regret-full[i].Regret), append(later, mean(o.Later)-mean(full[i].Later))
		l.Sources += float64(o.Sources)
		l.Now += o.Regret
		l.Later += mean(o.Later)
		if !o.Verdict {
			l.WrongVerdicts += 100
		}
	}
	if l.Count == 0 {
		return l
	}
	n := float64(l.Count)
	l.Sources, l.Now, l.Later, l.WrongVerdicts = l.Sources/n, l.Now/n, l.Later/n, l.WrongVerdicts/n
	slices.Sort(seconds)
	l.MedianSeconds, l.P90Seconds = seconds[len(seconds)/2], seconds[len(seconds)*9/10]
	l.ByNow, l.ByLater = difference(now), difference(later)
	return l
}

func mean(of []float64) float64 {
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	return sum / float64(max(1, len(of)))
}

func difference(of []float64) Difference {
	m, square := mean(of), 0.0
	for _, v := range of {
		square += (v - m) * (v - m)
	}
	half := stat.Normal95 * math.Sqrt(square/float64(max(1, len(of)-1))/float64(len(of)))
	return Difference{m, m - half, m + half}
}

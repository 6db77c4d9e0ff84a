package validate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// table is a table of the report, before it is HTML or Markdown.
type table struct {
	Title string
	Note  string
	Head  []string
	Rows  [][]field
}

// field is one field; good and bad ones are coloured.
type field struct {
	Text string
	Mark mark
}

// mark is empty for what is neither.
type mark string

const (
	good mark = "good"
	bad  mark = "bad"
	weak mark = "weak" // not known, or expected
)

func text(s string) field { return field{Text: s} }

// judged is a number that meets its target or not; unknown is neither.
func judged(n Number, format string, ok bool) field {
	switch {
	case !n.Known():
		return field{"–", weak}
	case ok:
		return field{fmt.Sprintf(format, float64(n)), good}
	}
	return field{fmt.Sprintf(format, float64(n)) + " MISS", bad}
}

func number(n Number, format string) string {
	if !n.Known() {
		return "–"
	}
	return fmt.Sprintf(format, float64(n))
}

// scaled writes a large number with a prefix.
func scaled(n Number) string {
	if !n.Known() {
		return "–"
	}
	v := float64(n)
	for _, p := range []struct {
		from float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= p.from {
			return strconv.FormatFloat(v/p.from, 'f', 2, 64) + " " + p.name
		}
	}
	return strconv.FormatFloat(v, 'f', 2, 64) + " "
}

func (i Interval) text(format string) string {
	if !i.Low.Known() {
		return number(i.Center, format)
	}
	return fmt.Sprintf(format+" ["+format+", "+format+"]", float64(i.Center), float64(i.Low), float64(i.High))
}

// tables are all tables of the report, in the order of the questions.
func (r Report) tables() []table {
	return []table{
		r.sourcesTable(), r.linearityTable(), r.publishedTable(), r.victimTable(), r.displacementTable(),
		r.yardstickTable(), r.missTable(), r.failureTable(),
	}
}

func (r Report) sourcesTable() table {
	t := table{Title: "Sources", Note: "What the calibration of this machine says.", Head: []string{"source", "title", "knob", "status", "reason"}}
	for _, s := range r.Sources {
		info, _ := interference.Info(s.Source)
		m := good
		if s.Status != ibench.StatusSupported {
			m = bad
		}
		t.Rows = append(t.Rows, []field{text(string(s.Source)), text(info.Title), text(string(s.Knob)), {string(s.Status), m}, text(s.Reason)})
	}
	return t
}

func (r Report) linearityTable() table {
	t := table{
		Title: "Linearity",
		Note:  fmt.Sprintf("Impact against intensity, up and down. Target: R² ≥ %.2f against the line impact = intensity, and no point more than %.0f points off it.", rSquaredMin, gapMaxPoints),
		Head:  []string{"source", "placement", "R²", "max gap", "peak per second", "impact is the"},
	}
	for _, l := range r.Linearity {
		t.Rows = append(t.Rows, []field{
			text(string(l.Source)), text(l.Placement), judged(l.RSquared, "%.4f", l.RSquared >= rSquaredMin),
			judged(l.MaxGap, "%.1f", l.MaxGap <= gapMaxPoints), text(scaled(l.PeakOps) + l.Unit), text(l.Measure),
		})
	}
	return t
}

// publishedTable compares with the published impact curves.
func (r Report) publishedTable() table {
	t := table{Title: "Against the published curves", Note: "Impact in percent, ours and of Delimitrou 2015, Fig. 5.2 (read off the figure).", Head: []string{"source"}}
	for _, x := range publishedAt {
		t.Head = append(t.Head, fmt.Sprintf("x=%.0f ours", x), "published")
	}
	for _, l := range r.Linearity {
		row := []field{text(string(l.Source))}
		for i, x := range publishedAt {
			theirs := "–"
			if p := published[l.Source]; p != nil {
				theirs = fmt.Sprintf("%.0f", p[i])
			}
			row = append(row, text(number(meanAt(l.Points, x), "%.0f")), text(theirs))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// meanAt is the mean impact over the points of one intensity.
func meanAt(points []LinearPoint, x float64) Number {
	sum, n := 0.0, 0
	for _, p := range points {
		if p.Intensity == x {
			sum, n = sum+float64(p.Impact), n+1
		}
	}
	return Number(sum / float64(n)) // none is NaN: unknown
}

func (r Report) victimTable() table {
	t := table{
		Title: "Victims",
		Note:  "Loss of a workload that lives on the resource, in percent, with the interval of the paired windows. On the same CPU the kernel also takes CPU time.",
		Head:  []string{"source", "victim", "placement", "loss at 50", "loss at 100", "rise violation", "verdict"},
	}
	for _, v := range r.Victims {
		m := good
		switch v.Verdict {
		case verdictNoEffect:
			m = weak
		case verdictBumpy:
			m = bad
		}
		t.Rows = append(t.Rows, []field{
			text(string(v.Source)), text(v.Victim + ": " + v.Does), text(v.Placement), text(v.lossAt(50)), text(v.lossAt(100)),
			text(number(v.RiseViolation, "%.1f")), {v.Verdict, m},
		})
	}
	return t
}

func (c VictimCurve) lossAt(x float64) string {
	for _, p := range c.Points {
		if p.Intensity == x {
			return p.Loss.text("%.1f")
		}
	}
	return "–"
}

func (r Report) displacementTable() table {
	t := table{
		Title: "Displacement",
		Note:  "Share of a cache or TLB that the kernel takes from a probe which fills it, keeps still, and times its next walk. 100 is what the probe finds when it displaces everything itself.",
		Head:  []string{"source", "placement", "probe", "ns per line, quiet", "all displaced", "R²", "max gap", "verdict"},
	}
	for _, d := range r.Displacements {
		t.Rows = append(t.Rows, []field{
			text(string(d.Source)), text(d.Placement), text(fmt.Sprintf("%s of %d KiB", d.Probe, d.UnitBytes>>10)),
			text(number(d.QuietNs, "%.2f")), text(number(d.FullNs, "%.2f")), text(number(d.RSquared, "%.3f")),
			text(number(d.MaxGap, "%.0f")), text(d.Verdict),
		})
	}
	return t
}

func (r Report) yardstickTable() table {
	t := table{
		Title: "Yardsticks",
		Note:  fmt.Sprintf("The kernel at intensity 100 against something independent on the same CPUs. Target: a ratio of %.2f at least, where the row is in the same unit; other rows are for information.", yardstickMin),
		Head:  []string{"source", "yardstick", "kernel", "yardstick says", "ratio", "verdict", "compares"},
	}
	for _, y := range r.Yardsticks {
		verdict := field{"for information", weak}
		switch {
		case y.Absent != "":
			verdict = field{y.Absent, weak}
		case y.Counts && y.Reached():
			verdict = field{"reached", good}
		case y.Counts:
			verdict = field{"MISS", bad}
		}
		t.Rows = append(t.Rows, []field{
			text(string(y.Source)), text(y.Yardstick), text(scaled(y.Kernel) + y.Unit), text(scaled(y.Other) + y.Unit),
			text(y.Ratio.text("%.3f")), verdict, text(y.Compares),
		})
	}
	return t
}

// missTable lists the pairs over the target, explained or not.
func (r Report) missTable() table {
	t := table{
		Title: "Cross-talk over the target",
		Note:  fmt.Sprintf("Pairs of which the first at 100 costs the second more than %.0f %%. Expected ones cannot be avoided by any kernel, for the reason given; all others are misses.", crossTalkMaxLoss),
		Head:  []string{"from", "to", "placement", "loss", "verdict", "why"},
	}
	add := func(from interference.Source, to string, p PairLoss) {
		if p.Verdict == VerdictOK {
			return
		}
		m := weak
		if p.Verdict == VerdictMiss {
			m = bad
		}
		t.Rows = append(t.Rows, []field{text(string(from)), text(to), text(p.Placement), text(p.Loss.text("%.1f")), {string(p.Verdict), m}, text(p.Why)})
	}
	for _, c := range r.CrossTalk {
		add(c.From, "kernel "+string(c.To), c.PairLoss)
	}
	for _, c := range r.OffTarget {
		add(c.From, "victim of "+string(c.Victim), c.PairLoss)
	}
	return t
}

func (r Report) failureTable() table {
	t := table{Title: "Not measured", Note: "Cells that failed; another run tries them again.", Head: []string{"cell", "reason"}}
	for _, f := range r.Failures {
		t.Rows = append(t.Rows, []field{text(f.Cell), {f.Reason, bad}})
	}
	return t
}

// head is the report's fingerprint, as name and value.
func (r Report) head() [][2]string {
	m := r.Machine
	var caches []string
	for _, c := range m.Caches {
		caches = append(caches, fmt.Sprintf("L%d %s %d KiB on CPUs %s", c.Level, c.Type, c.SizeBytes>>10, ibench.FormatCPUList(c.SharedCPUs)))
	}
	kind := "physical"
	if m.Key.Virtual {
		kind = "virtual"
	}
	pace := "full"
	if r.Quick {
		pace = "quick: rough numbers"
	}
	head := [][2]string{
		{"command", r.CommandLine},
		{"date", r.Ended.Format("2006-01-02 15:04 MST")},
		{"measured for", fmt.Sprintf("%.0f s", r.MeasuredSeconds)},
		{"pace", pace},
		{"seed", strconv.FormatUint(r.Seed, 10)},
		{"program", r.Program},
		{"processor", fmt.Sprintf("%s, %d CPUs, hardware threads: %t, %s machine", m.Key.CPUModel, m.CPUs, m.SMT, kind)},
		{"kernel release", m.Key.KernelRelease},
		{"memory", fmt.Sprintf("%d MiB", m.MemoryBytes>>20)},
		{"caches as reported", strings.Join(caches, "; ")},
		{"calibration", m.CalibrationID},
		{"victim's CPU", fmt.Sprintf("%d, next to it %s", m.VictimCPU, ibench.FormatCPUList(m.BesideCPUs))},
	}
	for _, n := range r.Notes {
		head = append(head, [2]string{"note", n})
	}
	return head
}

// counts sums up the report in one line per question.
func (r Report) counts() table {
	t := table{Title: "Summary", Head: []string{"question", "met", "of", "remark"}}
	row := func(question string, met, of int, remark string) {
		m := good
		if met < of {
			m = bad
		}
		t.Rows = append(t.Rows, []field{text(question), {strconv.Itoa(met), m}, text(strconv.Itoa(of)), text(remark)})
	}
	met, worst := 0, Number(0)
	for _, l := range r.Linearity {
		if l.Linear() {
			met++
		}
		worst = max(worst, l.MaxGap)
	}
	row("linear", met, len(r.Linearity), "largest gap "+number(worst, "%.1f")+" points")
	met, compared := 0, 0
	for _, y := range r.Yardsticks {
		if y.Counts && y.Absent == "" {
			compared++
			if y.Reached() {
				met++
			}
		}
	}
	row("peak reaches the yardstick", met, compared, "")
	met, none := 0, 0
	for _, v := range r.Victims {
		switch v.Verdict {
		case verdictMonotone:
			met++
		case verdictNoEffect:
			none++
		}
	}
	row("victim's loss grows", met, len(r.Victims)-none, fmt.Sprintf("%d without a measurable effect on this machine", none))
	pairs := func(question string, of int, verdict func(i int) Verdict) {
		met, expected := 0, 0
		for i := range of {
			switch verdict(i) {
			case VerdictOK:
				met++
			case VerdictExpected:
				expected++
			}
		}
		row(question, met, of-expected, fmt.Sprintf("%d expected over the target", expected))
	}
	pairs("pairs of kernels apart", len(r.CrossTalk), func(i int) Verdict { return r.CrossTalk[i].Verdict })
	pairs("victims unaffected by others", len(r.OffTarget), func(i int) Verdict { return r.OffTarget[i].Verdict })
	return t
}

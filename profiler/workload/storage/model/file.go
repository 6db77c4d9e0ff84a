package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Version is that of the files this program writes; it reads it and the older ones
// (FORMAT.md).
const Version = 2

// Errors of files.
var (
	// ErrFile: a file is no model.
	ErrFile = errors.New("not a storage model")
	// ErrNewer: a file was written by a newer program.
	ErrNewer = errors.New("a newer version of the model file")

	// ErrTooLarge: a model of so many levels has too many transitions for a file.
	ErrTooLarge = fmt.Errorf("%w: it does not get below %d bytes; take fewer levels", ErrFit, MaxFileBytes)
)

// maxReadBytes bounds what is read as a model.
const maxReadBytes = 64 << 20

// Write writes the file: the same model, the same bytes.
func (m *Model) Write(w io.Writer) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func (m *Model) encode() ([]byte, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("storage model: %w", err)
	}
	return append(data, '\n'), nil
}

// Read reads and checks a file; name is what errors call it.
func Read(name string, r io.Reader) (*Model, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxReadBytes))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var head struct{ Version int }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("%s: %w%s: %w", name, ErrFile, lineOf(data, err), err)
	}
	switch {
	case head.Version > Version:
		return nil, fmt.Errorf("%s: %w: it has version %d, and this program reads up to %d; use a newer nomad-placer, or fit the trace again", name, ErrNewer, head.Version, Version)
	case head.Version < 1:
		return nil, fmt.Errorf("%s: %w: it has no version", name, ErrFile)
	}
	var m Model
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("%s: %w%s: %w", name, ErrFile, lineOf(data, err), err)
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrFile, err)
	}
	return &m, nil
}

// lineOf says in which line JSON could not be read.
func lineOf(data []byte, err error) string {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return ""
	}
	return fmt.Sprintf(", line %d", 1+bytes.Count(data[:offset], []byte("\n")))
}

// MarshalJSON writes a transition as a row: level, from, to, category, I/Os, and family,
// mean in microseconds and variation of the gap where that is known.
func (t Transition) MarshalJSON() ([]byte, error) {
	row := []any{t.Level, t.From, t.To, t.Category, t.IOs}
	if t.Gap.Known() {
		row = append(row, t.Gap.Family, t.Gap.MeanMicroseconds, t.Gap.Variation)
	}
	return json.Marshal(row)
}

const (
	rowWithoutGap = 5
	rowWithGap    = 8
)

// UnmarshalJSON reads a row.
func (t *Transition) UnmarshalJSON(data []byte) error {
	var row []json.RawMessage
	if err := json.Unmarshal(data, &row); err != nil {
		return err
	}
	if len(row) != rowWithoutGap && len(row) != rowWithGap {
		return fmt.Errorf("a transition of %d columns; it has %d, or %d with a gap", len(row), rowWithoutGap, rowWithGap)
	}
	to := []any{&t.Level, &t.From, &t.To, &t.Category, &t.IOs, &t.Gap.Family, &t.Gap.MeanMicroseconds, &t.Gap.Variation}
	for i, cell := range row {
		if err := json.Unmarshal(cell, to[i]); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes a crossing as a row: level, state, I/Os.
func (c Crossing) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]int64{int64(c.Level), int64(c.State), c.IOs})
}

// UnmarshalJSON reads a row.
func (c *Crossing) UnmarshalJSON(data []byte) error {
	var row []int64
	if err := json.Unmarshal(data, &row); err != nil {
		return err
	}
	if len(row) != 3 {
		return fmt.Errorf("a crossing of %d columns; it has 3", len(row))
	}
	*c = Crossing{int(row[0]), int(row[1]), row[2]}
	return nil
}

// Check wants a model that can be walked.
func (m *Model) Check() error {
	switch {
	case m.Version < 1 || m.Version > Version:
		return fmt.Errorf("version %d", m.Version)
	case m.Levels < 0 || m.Levels > MaxLevels:
		return fmt.Errorf("%d levels; there are 0 to %d", m.Levels, MaxLevels)
	case m.Branching != Branching:
		return fmt.Errorf("ranges are divided into %d; known is %d", m.Branching, Branching)
	case m.Form != Hierarchical && m.Form != Flat:
		return fmt.Errorf("no form %q; known: %s, %s", m.Form, Hierarchical, Flat)
	case m.Device.Bytes < int64(States(m.Levels)) || m.Device.Bytes > maxDeviceBytes:
		return fmt.Errorf("a device of %d bytes in %d states", m.Device.Bytes, States(m.Levels))
	case m.Device.SectorBytes < 1 || m.Device.SectorBytes > m.Device.Bytes:
		return fmt.Errorf("sectors of %d bytes", m.Device.SectorBytes)
	case !(m.Capture.Seconds > 0) || m.Capture.Seconds > maxSeconds:
		return fmt.Errorf("a trace of %g seconds", m.Capture.Seconds)
	case m.Loop != nil && (min(m.Loop.Reads, m.Loop.Writes) < leastOutstanding || max(m.Loop.Reads, m.Loop.Writes) > mostOutstanding || m.Loop.ThreadReads < 0):
		return fmt.Errorf("%d reads and %d writes are outstanding; %d to %d can be", m.Loop.Reads, m.Loop.Writes, leastOutstanding, mostOutstanding)
	case len(m.Categories) == 0 || len(m.Categories) >= 1<<categoryBits:
		return fmt.Errorf("%d categories of I/Os", len(m.Categories))
	case len(m.Types) == 0:
		return errors.New("no type of threads")
	}
	for i, c := range m.Categories {
		if c.Bytes < 1 || c.Bytes > m.Device.Bytes {
			return fmt.Errorf("category %d: I/Os of %d bytes", i, c.Bytes)
		}
	}
	for i := range m.Types {
		if err := m.checkType(&m.Types[i]); err != nil {
			return fmt.Errorf("type %s: %w", m.Types[i].Name, err)
		}
	}
	return nil
}

const (
	maxDeviceBytes = 1 << 62
	maxSeconds     = 100 * 365 * 24 * 3600
	maxThreads     = 1 << 20
	maxIOs         = 1 << 53 // whole numbers of a float64
)

func (m *Model) checkType(t *Type) error {
	switch {
	case !slices.Contains(Classes(), t.Class):
		return fmt.Errorf("%s %s %s is none of the types", t.Function, t.Intensity, t.Fluctuation)
	case t.Threads < 1 || t.Threads > maxThreads:
		return fmt.Errorf("%d threads", t.Threads)
	case t.IOs < 1 || t.IOs > maxIOs:
		return fmt.Errorf("%d I/Os", t.IOs)
	case !(t.Weight > 0 && t.Weight <= 1):
		return fmt.Errorf("weight %g", t.Weight)
	case len(t.Transitions) == 0:
		return errors.New("no transitions")
	}
	if err := checkIntervals(t.Intervals); err != nil {
		return err
	}
	if err := t.Gap.check(); err != nil {
		return err
	}
	flow := newFlow()
	for i, x := range t.Transitions {
		if err := m.checkTransition(x); err != nil {
			return fmt.Errorf("transition %d: %w", i, err)
		}
		flow.transition(m, x)
	}
	if err := m.checkCrossings("entry", t.Entries, flow.entered); err != nil {
		return err
	}
	if err := m.checkCrossings("exit", t.Exits, flow.left); err != nil {
		return err
	}
	return flow.check(m, t)
}

func checkIntervals(intervals []Interval) error {
	end := 0.0
	any := false
	for i, v := range intervals {
		if v.StartSeconds < end || !(v.Seconds > 0) || v.StartSeconds+v.Seconds > maxSeconds || v.IOs < 0 || v.IOs > maxIOs {
			return fmt.Errorf("interval %d: %d I/Os in %g s from %g s", i, v.IOs, v.Seconds, v.StartSeconds)
		}
		end = v.StartSeconds
		any = any || v.IOs > 0
	}
	if !any {
		return errors.New("no interval with an I/O")
	}
	return nil
}

func (m *Model) checkTransition(x Transition) error {
	lowest := min(1, m.Levels)
	switch {
	case x.Level < lowest || x.Level > m.Levels || (m.Form == Flat && x.Level != m.Levels):
		return fmt.Errorf("level %d", x.Level)
	case x.From < 0 || x.From >= States(x.Level) || x.To < 0 || x.To >= States(x.Level):
		return fmt.Errorf("from state %d to %d at level %d", x.From, x.To, x.Level)
	case m.Form == Hierarchical && x.Level > 0 && x.From/Branching != x.To/Branching:
		return fmt.Errorf("states %d and %d are no siblings", x.From, x.To)
	case x.Level < m.Levels && x.From == x.To:
		return fmt.Errorf("state %d to itself above the last level", x.From)
	case x.Category < 0 || x.Category >= len(m.Categories):
		return fmt.Errorf("category %d of %d", x.Category, len(m.Categories))
	case x.IOs < 1 || x.IOs > maxIOs:
		return fmt.Errorf("%d I/Os", x.IOs)
	}
	return x.Gap.check()
}

func (g Gap) check() error {
	if !g.Known() {
		if g != (Gap{}) {
			return errors.New("a gap without a family")
		}
		return nil
	}
	if _, err := FamilyOf(string(g.Family)); err != nil {
		return err
	}
	if !(g.MeanMicroseconds >= 0 && g.MeanMicroseconds <= maxSeconds*1e6) || !(g.Variation >= 0) || math.IsInf(g.Variation, 0) {
		return fmt.Errorf("a gap of %g µs with a variation of %g", g.MeanMicroseconds, g.Variation)
	}
	return nil
}

func (m *Model) checkCrossings(what string, list []Crossing, counts map[StateOf]int64) error {
	seen := map[StateOf]bool{}
	for i, c := range list {
		if m.Form == Flat || c.Level < 1 || c.Level >= m.Levels || c.State < 0 || c.State >= States(m.Levels) || c.IOs < 1 || c.IOs > maxIOs {
			return fmt.Errorf("%s %d: %d I/Os of state %d at level %d", what, i, c.IOs, c.State, c.Level)
		}
		if seen[StateOf{c.Level, c.State}] {
			return fmt.Errorf("%s %d: state %d at level %d is there twice", what, i, c.State, c.Level)
		}
		seen[StateOf{c.Level, c.State}] = true
		counts[StateOf{c.Level, Ancestor(c.State, m.Levels, c.Level)}] -= c.IOs
	}
	for s, n := range counts {
		if n != 0 {
			return fmt.Errorf("level %d, state %d: its transitions are %d more than its %s counts", s.Level, s.State, n, what)
		}
	}
	return nil
}

// flow counts what enters and leaves states.
type flow struct {
	entered, left map[StateOf]int64 // by coarse transitions
	balance       map[int]int64     // of the last level: in less out
}

func newFlow() *flow {
	return &flow{entered: map[StateOf]int64{}, left: map[StateOf]int64{}, balance: map[int]int64{}}
}

func (f *flow) transition(m *Model, x Transition) {
	if x.Level < m.Levels {
		f.entered[StateOf{x.Level, x.To}] += x.IOs
		f.left[StateOf{x.Level, x.From}] += x.IOs
		return
	}
	f.balance[x.To] += x.IOs
	f.balance[x.From] -= x.IOs
}

// check wants every state to be left as often as it is entered: a walk would end in one
// that is not.
func (f *flow) check(m *Model, t *Type) error {
	for _, c := range t.Entries {
		f.balance[c.State] += c.IOs
	}
	for _, c := range t.Exits {
		f.balance[c.State] -= c.IOs
	}
	for state, n := range f.balance {
		if n != 0 {
			return fmt.Errorf("state %d of level %d is entered %d times more than it is left", state, m.Levels, n)
		}
	}
	return nil
}

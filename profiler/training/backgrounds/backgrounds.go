package backgrounds

import (
	"bufio"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed */*.csv
var shipped embed.FS

// The environments in which the programs of e2e/training/catalogue/colocated were measured: a
// disk of each machine's own, and what follows when it becomes another (Chiang and Huang 2011,
// §4.6).
const (
	Local  = "local"
	Remote = "remote"
)

// Names of files that are no application's.
const (
	IdleFile  = "idle.csv"
	PairsFile = "pairs.csv"
)

// Characteristics of what runs in a slot.
type Characteristics struct {
	ReadsPerSec  float64 // requests that reach the disk
	WritesPerSec float64
	ReadMBps     float64
	WriteMBps    float64
	CPULocal     float64 // CPUs in user mode
	CPUGlobal    float64 // CPUs the kernel spends for it
}

// Learnt are the four characteristics that models learn from: those of the paper's §2.2.
func (c Characteristics) Learnt() []float64 {
	return []float64{c.ReadsPerSec, c.WritesPerSec, c.CPULocal, c.CPUGlobal}
}

// Volume are the same with bytes in place of requests, whose sizes differ between
// applications.
func (c Characteristics) Volume() []float64 {
	return []float64{c.ReadMBps, c.WriteMBps, c.CPULocal, c.CPUGlobal}
}

func (c Characteristics) columns() []float64 {
	return []float64{c.ReadsPerSec, c.WritesPerSec, c.ReadMBps, c.WriteMBps, c.CPULocal, c.CPUGlobal}
}

// Level is a background workload, percent of each knob.
type Level struct{ CPU, Read, Write int }

// Levels are the five of each knob.
var Levels = []int{0, 25, 50, 75, 100}

// All lists the 125 background workloads.
func All() []Level {
	var out []Level
	for _, c := range Levels {
		for _, r := range Levels {
			for _, w := range Levels {
				out = append(out, Level{c, r, w})
			}
		}
	}
	return out
}

// SoloSweep is the sweep of rows without any background.
const SoloSweep = 0

// Row is one application next to one background workload.
type Row struct {
	Sweep int // SoloSweep, or which repetition of the 125
	Level Level
	Own   Characteristics
	// Background is what that did during the run.
	Background Characteristics
	// RatePerSec is in units of work. NaN: nothing runs (idle.csv), or no unit was
	// completed within the time.
	RatePerSec float64
}

// RuntimeSeconds of one unit of work.
func (r Row) RuntimeSeconds() float64 { return 1 / r.RatePerSec }

// IOPS of the application.
func (r Row) IOPS() float64 { return r.Own.ReadsPerSec + r.Own.WritesPerSec }

// Pair is one application next to another, or to a second copy of itself.
type Pair struct {
	Application, CoRunner string
	Repeat                int
	Own                   Characteristics
	RatePerSec            float64 // NaN: no unit was completed within the time
}

// IOPS of the application.
func (p Pair) IOPS() float64 { return p.Own.ReadsPerSec + p.Own.WritesPerSec }

// ErrFormat: a line is not one of these tables.
var ErrFormat = errors.New("not a row of measured backgrounds")

// Headers of the two kinds of tables.
var (
	rowHeader = []string{
		"sweep", "cpu_percent", "read_percent", "write_percent", "reads_per_sec", "writes_per_sec", "read_mbps", "write_mbps", "cpu_local", "cpu_global",
		"background_reads_per_sec", "background_writes_per_sec", "background_read_mbps", "background_write_mbps", "background_cpu_local", "background_cpu_global", "rate_per_sec",
	}
	pairHeader = []string{"application", "co_runner", "repeat", "reads_per_sec", "writes_per_sec", "read_mbps", "write_mbps", "cpu_local", "cpu_global", "rate_per_sec"}
)

// RowHeader is the first line of a table of rows.
func RowHeader() string { return strings.Join(rowHeader, ",") }

// PairHeader is the first line of a table of pairs.
func PairHeader() string { return strings.Join(pairHeader, ",") }

// Line is the row as text.
func (r Row) Line() string {
	words := []string{strconv.Itoa(r.Sweep), strconv.Itoa(r.Level.CPU), strconv.Itoa(r.Level.Read), strconv.Itoa(r.Level.Write)}
	for _, v := range slices.Concat(r.Own.columns(), r.Background.columns(), []float64{r.RatePerSec}) {
		words = append(words, short(v))
	}
	return strings.Join(words, ",")
}

// Line is the pair as text.
func (p Pair) Line() string {
	words := []string{p.Application, p.CoRunner, strconv.Itoa(p.Repeat)}
	for _, v := range append(p.Own.columns(), p.RatePerSec) {
		words = append(words, short(v))
	}
	return strings.Join(words, ",")
}

// short has the digits that were measured; unknown is empty.
func short(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}

// ReadRows reads a table of rows.
func ReadRows(r io.Reader) ([]Row, error) {
	var out []Row
	err := read(r, RowHeader(), len(rowHeader), func(w []string) error {
		var row Row
		for i, to := range []*int{&row.Sweep, &row.Level.CPU, &row.Level.Read, &row.Level.Write} {
			n, err := strconv.Atoi(w[i])
			if err != nil || n < 0 {
				return fmt.Errorf("%w: %q is no count", ErrFormat, w[i])
			}
			*to = n
		}
		v, err := numbers(w[4:])
		if err != nil {
			return err
		}
		row.Own, row.Background, row.RatePerSec = characteristics(v), characteristics(v[6:]), v[12]
		out = append(out, row)
		return nil
	})
	return out, err
}

// ReadPairs reads a table of pairs.
func ReadPairs(r io.Reader) ([]Pair, error) {
	var out []Pair
	err := read(r, PairHeader(), len(pairHeader), func(w []string) error {
		p := Pair{Application: w[0], CoRunner: w[1]}
		var err error
		if p.Repeat, err = strconv.Atoi(w[2]); err != nil || w[0] == "" || w[1] == "" {
			return fmt.Errorf("%w: two applications and a number are needed", ErrFormat)
		}
		v, err := numbers(w[3:])
		if err != nil {
			return err
		}
		p.Own, p.RatePerSec = characteristics(v), v[6]
		out = append(out, p)
		return nil
	})
	return out, err
}

func characteristics(v []float64) Characteristics {
	return Characteristics{v[0], v[1], v[2], v[3], v[4], v[5]}
}

// numbers reads the measured words of a line; only the last, the rate, may be
// unknown.
func numbers(words []string) ([]float64, error) {
	out := make([]float64, len(words))
	for i, w := range words {
		if w == "" && i == len(words)-1 {
			out[i] = math.NaN()
			continue
		}
		v, err := strconv.ParseFloat(w, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: %q is no number from 0 on", ErrFormat, w)
		}
		out[i] = v
	}
	return out, nil
}

func read(r io.Reader, header string, width int, line func(words []string) error) error {
	lines, headed := bufio.NewScanner(r), false
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
			continue
		case !headed:
			if text != header {
				return fmt.Errorf("line %d: %w: the header %q is needed", n, ErrFormat, header)
			}
			headed = true
			continue
		}
		words := strings.Split(text, ",")
		if len(words) != width {
			return fmt.Errorf("line %d: %w: %d words, not %d", n, ErrFormat, len(words), width)
		}
		if err := line(words); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// Set is all that was measured in one environment.
type Set struct {
	Environment string
	Rows        map[string][]Row // by application
	Idle        []Row            // of backgrounds alone
	Pairs       []Pair
}

// Load reads the shipped tables of an environment.
func Load(environment string) (*Set, error) { return LoadFrom(shipped, environment) }

// Environments lists those that are shipped.
func Environments() ([]string, error) { return environmentsOf(shipped) }

func environmentsOf(tables fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(tables, ".")
	if err != nil {
		return nil, fmt.Errorf("backgrounds: %w", err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// LoadFrom reads the tables of a folder of environments.
func LoadFrom(tables fs.FS, environment string) (*Set, error) {
	entries, err := fs.ReadDir(tables, environment)
	if err != nil {
		known, others := environmentsOf(tables)
		return nil, fmt.Errorf("backgrounds: environment %q: %w; known: %s", environment, errors.Join(err, others), strings.Join(known, ", "))
	}
	s := &Set{Environment: environment, Rows: map[string][]Row{}}
	for _, e := range entries {
		if path.Ext(e.Name()) != ".csv" {
			continue
		}
		if err := s.load(tables, path.Join(environment, e.Name())); err != nil {
			return nil, fmt.Errorf("backgrounds: %s/%s: %w", environment, e.Name(), err)
		}
	}
	return s, nil
}

func (s *Set) load(tables fs.FS, name string) error {
	f, err := tables.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	switch base := path.Base(name); base {
	case PairsFile:
		s.Pairs, err = ReadPairs(f)
	case IdleFile:
		s.Idle, err = ReadRows(f)
	default:
		s.Rows[strings.TrimSuffix(base, ".csv")], err = ReadRows(f)
	}
	return err
}

// Applications are those with rows, sorted.
func (s *Set) Applications() []string {
	var out []string
	for name := range s.Rows {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// ErrMissing: something was not measured.
var ErrMissing = errors.New("backgrounds: not measured")

// Isolated are the characteristics of an application without any background: medians.
func (s *Set) Isolated(application string) (Characteristics, error) {
	var solo []Characteristics
	for _, r := range s.Rows[application] {
		if r.Sweep == SoloSweep {
			solo = append(solo, r.Own)
		}
	}
	if len(solo) == 0 {
		return Characteristics{}, fmt.Errorf("%w: %s in isolation, %s", ErrMissing, application, s.Environment)
	}
	return medians(solo), nil
}

// Background are the characteristics of each background workload alone.
func (s *Set) Background() (map[Level]Characteristics, error) {
	all := map[Level][]Characteristics{}
	for _, r := range s.Idle {
		all[r.Level] = append(all[r.Level], r.Background)
	}
	out := map[Level]Characteristics{}
	for _, l := range All() {
		if len(all[l]) == 0 {
			return nil, fmt.Errorf("%w: the background %+v in isolation, %s", ErrMissing, l, s.Environment)
		}
		out[l] = medians(all[l])
	}
	return out, nil
}

func medians(all []Characteristics) Characteristics {
	middle := func(of func(Characteristics) float64) float64 {
		v := make([]float64, len(all))
		for i, c := range all {
			v[i] = of(c)
		}
		slices.Sort(v)
		return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	}
	return Characteristics{
		ReadsPerSec:  middle(func(c Characteristics) float64 { return c.ReadsPerSec }),
		WritesPerSec: middle(func(c Characteristics) float64 { return c.WritesPerSec }),
		ReadMBps:     middle(func(c Characteristics) float64 { return c.ReadMBps }),
		WriteMBps:    middle(func(c Characteristics) float64 { return c.WriteMBps }),
		CPULocal:     middle(func(c Characteristics) float64 { return c.CPULocal }),
		CPUGlobal:    middle(func(c Characteristics) float64 { return c.CPUGlobal }),
	}
}

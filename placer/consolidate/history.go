package consolidate

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Use is what an allocation moved to and from its disk up to a time, as a mean. Forecasts are
// made of uses of a whole interval or of parts of it.
type Use struct {
	End        time.Time
	Workload   cluster.WorkloadID
	Allocation string
	MBPerSec   float64
}

// useColumns are the columns of a file of uses.
var useColumns = []string{"end", "namespace", "job", "group", "allocation", "mb_per_sec"}

// ErrUses: a file of uses cannot be read.
var ErrUses = errors.New("no record of the use of disks")

// ReadUses reads a CSV file; name is for errors, which say the line.
func ReadUses(name string, r io.Reader) ([]Use, error) {
	table := csv.NewReader(r)
	table.FieldsPerRecord = len(useColumns)
	header, err := table.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: %s is empty", ErrUses, name)
	case err != nil || !slices.Equal(header, useColumns):
		return nil, fmt.Errorf("%w: %s:1 is not the header %q", ErrUses, name, useColumns)
	}
	var out []Use
	for {
		row, err := table.Read()
		var bad *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case errors.As(err, &bad):
			return nil, fmt.Errorf("%w: %s:%d: %w", ErrUses, name, bad.Line, bad.Err)
		case err != nil:
			return nil, fmt.Errorf("%w: %s: %w", ErrUses, name, err)
		}
		u, err := useOf(row)
		if err != nil {
			line, _ := table.FieldPos(0)
			return nil, fmt.Errorf("%w: %s:%d: %w", ErrUses, name, line, err)
		}
		out = append(out, u)
	}
}

func useOf(row []string) (Use, error) {
	u := Use{Workload: cluster.WorkloadID{Namespace: row[1], Job: row[2], Group: row[3]}, Allocation: row[4]}
	var err error
	if u.End, err = time.Parse(time.RFC3339, row[0]); err != nil {
		return u, fmt.Errorf("end %q is not a time like 2026-03-01T12:30:00Z", row[0])
	}
	if u.Workload.Namespace == "" || u.Workload.Job == "" || u.Workload.Group == "" {
		return u, errors.New("namespace, job and group name a workload, and one of them is empty")
	}
	u.MBPerSec, err = strconv.ParseFloat(row[5], 64)
	if err != nil || !(u.MBPerSec >= 0) || math.IsInf(u.MBPerSec, 1) {
		return u, fmt.Errorf("mb_per_sec %q is not a number of MB/s, 0 or more", row[5])
	}
	return u, nil
}

// UsesHeader is the first line of a file of uses.
func UsesHeader() string { return strings.Join(useColumns, ",") }

// WriteUses appends uses to a file.
func WriteUses(w io.Writer, uses []Use) error {
	table := csv.NewWriter(w)
	for _, u := range uses {
		row := []string{u.End.UTC().Format(time.RFC3339), u.Workload.Namespace, u.Workload.Job, u.Workload.Group, u.Allocation, strconv.FormatFloat(u.MBPerSec, 'f', 3, 64)}
		if err := table.Write(row); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// Expect predicts what an allocation of each workload will use in the interval behind the last
// one that was seen, which is that of now or the one before it. A workload of which nothing was
// seen then, nor at that time of other days, is missing. Days are those of UTC.
func Expect(uses []Use, now time.Time, r Rules) map[cluster.WorkloadID]float64 {
	slotOf := func(t time.Time) int64 { return t.UnixNano() / int64(r.Interval) }
	seen := map[cluster.WorkloadID]map[int64]mean{}
	present := slotOf(now)
	last := present - 1
	for _, u := range uses {
		slot := slotOf(u.End.Add(-1)) // an interval has its end
		if slot > present {
			continue // a clock that is ahead says nothing of what was
		}
		of := seen[u.Workload]
		if of == nil {
			of = map[int64]mean{}
			seen[u.Workload] = of
		}
		of[slot] = of[slot].with(u.MBPerSec)
		last = max(last, slot)
	}
	perDay := int64(24 * time.Hour / r.Interval)
	begin := (last/perDay - historyDays) * perDay
	out := map[cluster.WorkloadID]float64{}
	for w, of := range seen {
		f := NewForecast(r.Interval)
		for slot := begin; slot <= last; slot++ {
			if v, ok := of[slot]; ok {
				f.Observe(v.sum / float64(v.n))
			} else {
				f.Skip()
			}
		}
		if v, ok := f.Next(); ok {
			out[w] = v
		}
	}
	return out
}

// mean is one under way.
type mean struct {
	sum float64
	n   int
}

func (m mean) with(v float64) mean { return mean{m.sum + v, m.n + 1} }

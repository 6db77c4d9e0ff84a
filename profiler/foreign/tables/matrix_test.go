package tables_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

// values are those of the cells, without intervals.
func values(m tables.Matrix) [][][]float64 {
	out := make([][][]float64, len(m.Rows))
	for i, row := range m.Rows {
		for _, cell := range row.Cells {
			var own []float64
			for _, c := range cell {
				own = append(own, c.Value)
			}
			out[i] = append(out[i], own)
		}
	}
	return out
}

// The wide and the long form of a matrix are the same.
func TestMatrixForms(t *testing.T) {
	t.Parallel()
	wide := "row,group,replicate,big,small\na,g,1,4,2\na,g,2,5,\nb,h,1,,1\n"
	long := "replicate,column,row,value,group\n1,big,a,4,g\n1,small,a,2,g\n2,big,a,5,g\n1,small,b,1,h\n"
	want := [][][]float64{{{4, 5}, {2}}, {nil, {1}}}
	for name, text := range map[string]string{"wide": wide, "long": long, "byte order mark": "\ufeff" + wide} {
		m, err := tables.ReadMatrix("m.csv", strings.NewReader(text), tables.SpeedCells)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(m.Columns, []string{"big", "small"}) || !reflect.DeepEqual(values(m), want) || m.Rows[0].Group != "g" || m.Rows[1].Group != "h" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestMatrixIntervals(t *testing.T) {
	t.Parallel()
	m, err := tables.ReadMatrix("m.csv", strings.NewReader("row,column,value,low,high\na,x,50,30.4,69.6\na,y,50,,\n"), tables.PointCells)
	if err != nil {
		t.Fatal(err)
	}
	if d := m.Rows[0].Cells[0][0].Deviation; math.Abs(d-10) > 1e-9 {
		t.Errorf("deviation %v, want 10", d)
	}
	if d := m.Rows[0].Cells[1][0].Deviation; !math.IsNaN(d) {
		t.Errorf("deviation %v of a cell without an interval", d)
	}
	if m.Rows[0].Group != "a" {
		t.Errorf("group %q, want the row's name", m.Rows[0].Group)
	}
	m, err = tables.ReadMatrix("m.csv", strings.NewReader("row,column,value,deviation\na,x,50,3\n"), tables.PointCells)
	if err != nil || m.Rows[0].Cells[0][0].Deviation != 3 {
		t.Errorf("%v: %+v", err, m)
	}
}

// An exact copy of a numbered measurement is no second one, and is noted.
func TestMatrixCopies(t *testing.T) {
	t.Parallel()
	m, err := tables.ReadMatrix("m.csv", strings.NewReader("row,replicate,x,y\na,1,1,2\na,1,1,2\n"), tables.SpeedCells)
	if err != nil || !reflect.DeepEqual(m.Copies, []int{3}) || len(m.Rows[0].Cells[0]) != 1 {
		t.Errorf("%v: %+v", err, m)
	}
}

func TestMatrixFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"empty":                  {"", "m.csv: is empty"},
		"no row":                 {"name,x\na,1\n", `m.csv:1: the header lacks "row"`},
		"only rows":              {"row,group\na,g\n", "m.csv:1: the header names no column of measurements"},
		"nameless":               {"row,x, \na,1,2\n", "m.csv:1: a column has no name"},
		"column without value":   {"row,column,x\na,x,1\n", `m.csv:1: the header has "column", but not both`},
		"strange column":         {"row,column,value,unit\na,x,1,s\n", `m.csv:1: the header has "unit"`},
		"half an interval":       {"row,column,value,low\na,x,1,1\n", "m.csv:1: the header has one of"},
		"interval and deviation": {"row,column,value,low,high,deviation\na,x,1,1,1,1\n", "m.csv:1: the header has both"},
		"no measurement":         {"row,x\n", "m.csv: has a header and no measurement"},
		"nameless row":           {"row,x\n,1\n", "m.csv:2: column row: is empty"},
		"text":                   {"row,x\na,fast\n", `m.csv:2: column x: "fast" is not a number`},
		"not a number":           {"row,x\na,NaN\n", `m.csv:2: column x: "NaN" is not a number`},
		"negative speed":         {"row,x\na,-1\n", "m.csv:2: column x: -1 is not possible"},
		"empty value":            {"row,column,value\na,x,\n", "m.csv:2: column value: is empty"},
		"twice":                  {"row,x\na,1\na,2\n", `m.csv:3: column x: row "a" in column "x" is measured in line 2 already (number repeated`},
		"replicate twice":        {"row,replicate,x\na,1,1\na,1,2\n", "m.csv:3: column x: row \"a\" in column \"x\" is measured in line 2 already (give each"},
		"two groups":             {"row,group,replicate,x\na,g,1,1\na,h,2,1\n", `m.csv:3: column group: row "a" is of "h" here, and of "g" in line 2`},
		"interval beside value":  {"row,column,value,low,high\na,x,5,6,7\n", "m.csv:2: column low: the interval from 6 to 7 does not hold 5"},
		"one end":                {"row,column,value,low,high\na,x,5,4,\n", "m.csv:2: column low: an interval has a lower and an upper end"},
		"negative deviation":     {"row,column,value,deviation\na,x,5,-1\n", "m.csv:2: column deviation: -1 is not possible"},
		"tiny":                   {"row,x\na,1e-300\n", "m.csv:2: column x: 1e-300 is not from 1e-18 to 1e+18 (use another unit)"},
		"wide beyond measure":    {"row,column,value,deviation\na,x,5,1e300\n", "m.csv:2: column deviation: 1e300 is beyond 1e+18"},
		"cut off":                {"row,x,y\na,1\n", "m.csv:2: has another number of fields than the header"},
	} {
		_, err := tables.ReadMatrix("m.csv", strings.NewReader(c.text), tables.SpeedCells)
		var located *tables.InputError
		if err == nil || !errors.As(err, &located) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := tables.ReadMatrix("m.csv", strings.NewReader("row,x\na,101\n"), tables.PointCells); err == nil || !strings.Contains(err.Error(), "-cells speed") {
		t.Errorf("101 points: %v", err)
	}
}

// FuzzMatrix reads any bytes: an error that says where, or rows with numbers that can be
// worked with, each measurement once.
func FuzzMatrix(f *testing.F) {
	f.Add([]byte("row,group,replicate,big,small\na,g,1,4,2\na,g,2,5,\n"), true)
	f.Add([]byte("row,column,value,low,high\na,x,50,30.4,69.6\n"), false)
	f.Add([]byte("row,row\na,b\n"), true)
	f.Add([]byte("row,column,value,deviation\na,x,1e308,1e308\na,x,0x1p-1074,\n"), true)
	f.Add([]byte("row,\"x\ny\"\na,1\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, speeds bool) {
		cells := tables.PointCells
		if speeds {
			cells = tables.SpeedCells
		}
		m, err := tables.ReadMatrix("m.csv", strings.NewReader(string(text)), cells)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "m.csv") {
				t.Fatalf("an error that does not say where: %v", err)
			}
			return
		}
		for _, row := range m.Rows {
			if row.Name == "" || row.Group == "" || len(row.Cells) != len(m.Columns) {
				t.Fatalf("%+v of %d columns", row, len(m.Columns))
			}
			for _, cell := range row.Cells {
				for _, c := range cell {
					if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) || speeds && c.Value <= 0 || !speeds && (c.Value < 0 || c.Value > 100) || c.Deviation < 0 || math.IsInf(c.Deviation, 0) {
						t.Fatalf("%+v", c)
					}
				}
			}
		}
	})
}

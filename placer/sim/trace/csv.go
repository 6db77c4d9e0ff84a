package trace

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ColumnMap says which column of a table is which field of a Job, and in which
// units.
type ColumnMap struct {
	// Columns maps a field (submit, duration, end, tasks, cores, memory, disk, gpus,
	// gpu_types, id, group, user, kind, class, priority) to the name of a column, or
	// to its number from 1 in a table without header.
	Columns map[string]string
	// Time is the unit of submit, duration and end. 0 is a second.
	Time time.Duration
	// CoresUnit and MemoryUnit are what one unit of cores and memory is worth, in
	// cores and bytes. 0 is 1.
	CoresUnit, MemoryUnit float64
	// Separator of cells. 0 is a comma.
	Separator byte
}

// Fields of the column map, in the order of the columns of the layout.
const (
	csvSubmit = iota
	csvDuration
	csvEnd
	csvTasks
	csvCores
	csvMemory
	csvDisk
	csvGPUs
	csvGPUTypes
	csvID
	csvGroup
	csvUser
	csvKind
	csvClass
	csvPriority
)

var csvFields = []string{
	"submit", "duration", "end", "tasks", "cores", "memory", "disk", "gpus", "gpu_types", "id", "group", "user", "kind", "class", "priority",
}

// OwnTable is the name of the format that is read by a column map.
const OwnTable = "csv"

var genericCSV = Descriptor{
	Name:    OwnTable,
	Summary: "any table with one row per job, by a map of its columns",
	Source:  "a file of one's own",
	Order:   "sorted in memory by submission: about 250 bytes per job",
	Detect:  func(string) Role { return NoRole }, // only by name: any table would do
	Open: func(folder fs.FS, o Options) (Reader, error) {
		l, err := o.Map.layout()
		if err != nil {
			return nil, err
		}
		files, err := candidates(folder, o)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%w: no table in the folder", ErrFormat)
		}
		return openTable(folder, files, l, o, false, parseCSV)
	},
}

// ParseColumnMap reads "submit=col1,duration=col2,...". Besides the fields, time
// (a unit such as ms), cores_unit, memory_unit (a number, or KiB, MiB, GiB) and
// separator (tab, semicolon) may be given.
func ParseColumnMap(text string) (ColumnMap, error) {
	m := ColumnMap{Columns: map[string]string{}}
	if text == "" {
		_, err := m.layout() // says what is needed
		return m, err
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || value == "" {
			return m, fmt.Errorf("%w: column map: %q is not field=column", ErrOptions, part)
		}
		if err := m.set(name, value); err != nil {
			return m, err
		}
	}
	_, err := m.layout()
	return m, err
}

func (m *ColumnMap) set(name, value string) error {
	var err error
	switch name {
	case "time":
		if m.Time, err = time.ParseDuration("1" + value); err != nil || m.Time <= 0 {
			return fmt.Errorf("%w: column map: time=%s is not a unit of time (ns, us, ms, s, m, h)", ErrOptions, value)
		}
	case "cores_unit":
		m.CoresUnit, err = parseUnit(value)
	case "memory_unit":
		m.MemoryUnit, err = parseUnit(value)
	case "separator":
		switch value {
		case "tab":
			m.Separator = '\t'
		case "semicolon":
			m.Separator = ';'
		case "blank":
			m.Separator = ' '
		default:
			return fmt.Errorf("%w: column map: separator=%s; known: tab, semicolon, blank", ErrOptions, value)
		}
	default:
		if _, twice := m.Columns[name]; twice {
			return fmt.Errorf("%w: column map: %s is given twice", ErrOptions, name)
		}
		m.Columns[name] = value
	}
	return err
}

// byteUnits are the units a memory column may be in.
var byteUnits = map[string]float64{"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

func parseUnit(text string) (float64, error) {
	if v, ok := byteUnits[text]; ok {
		return v, nil
	}
	v, ok := parseNumber([]byte(text))
	if !ok || v <= 0 {
		return 0, fmt.Errorf("%w: column map: %q is not a unit; known: a number above 0, %s",
			ErrOptions, text, strings.Join(slices.Sorted(maps.Keys(byteUnits)), ", "))
	}
	return v, nil
}

// layout is the table the map describes.
func (m ColumnMap) layout() (*layout, error) {
	l := &layout{separator: m.Separator, comment: '#'}
	if l.separator == 0 {
		l.separator = ','
	}
	for _, name := range slices.Sorted(maps.Keys(m.Columns)) {
		if !slices.Contains(csvFields, name) {
			return nil, fmt.Errorf("%w: column map: unknown field %q; known: %s", ErrOptions, name, strings.Join(csvFields, ", "))
		}
	}
	if m.Columns["submit"] == "" {
		return nil, fmt.Errorf("%w: the format csv needs a column map with at least submit=column", ErrOptions)
	}
	numbers := 0
	for _, name := range csvFields {
		from := m.Columns[name]
		place := -1
		if n, err := strconv.Atoi(from); err == nil && n > 0 {
			place = n - 1
			numbers++
		}
		l.places = append(l.places, place)
		// Without a column the name must match none.
		l.columns = append(l.columns, column{[]string{from}, from != ""})
		if from == "" {
			l.columns[len(l.columns)-1].names = []string{"\x00" + name}
		}
	}
	switch numbers {
	case 0:
		l.places = nil
	case len(m.Columns):
		l.byPlace = true
	default:
		return nil, fmt.Errorf("%w: column map: give every column by name, or every one by number", ErrOptions)
	}
	return l, nil
}

// parseCSV reads a row by the map.
func parseCSV(o Options) parseJob {
	m := o.Map
	if m.Time == 0 {
		m.Time = time.Second
	}
	if m.CoresUnit == 0 {
		m.CoresUnit = 1
	}
	if m.MemoryUnit == 0 {
		m.MemoryUnit = 1
	}
	var row int64
	return func(r *rows, j *Job) (string, error) {
		row++
		var err error
		if j.Submit, err = r.moment(csvSubmit, m.Time); err != nil {
			return "", err
		}
		if skip, err := csvTimes(r, j, m.Time); skip != "" || err != nil {
			return skip, err
		}
		if skip, err := csvSizes(r, j, m); skip != "" || err != nil {
			return skip, err
		}
		if j.ID = r.text(csvID); j.ID == "" {
			j.ID = strconv.FormatInt(row, 10)
		}
		j.Group, j.User, j.Kind = r.text(csvGroup), r.text(csvUser), r.text(csvKind)
		if types := r.cell(csvGPUTypes); len(types) > 0 {
			j.GPUTypes = strings.Split(string(types), "|")
		}
		return "", csvClassAndPriority(r, j)
	}
}

// csvTimes reads the duration, or the end. A negative duration is left out, for
// what it means differs between logs.
func csvTimes(r *rows, j *Job, unit time.Duration) (string, error) {
	duration, given, err := r.optionalSpan(csvDuration, unit)
	if err != nil {
		return "", err
	}
	if given {
		return j.interval(0, duration, true), nil
	}
	end, given, err := r.optionalSpan(csvEnd, unit)
	if err != nil {
		return "", err
	}
	return j.interval(j.Submit, end, given), nil
}

func csvSizes(r *rows, j *Job, m ColumnMap) (string, error) {
	var err error
	if j.Cores, err = r.size(csvCores); err != nil {
		return "", err
	}
	if j.MemoryBytes, err = r.size(csvMemory); err != nil {
		return "", err
	}
	if j.DiskBytes, err = r.size(csvDisk); err != nil {
		return "", err
	}
	if j.GPUs, err = r.size(csvGPUs); err != nil {
		return "", err
	}
	j.Cores, j.MemoryBytes, j.DiskBytes = j.Cores*m.CoresUnit, j.MemoryBytes*m.MemoryUnit, j.DiskBytes*m.MemoryUnit
	tasks, given, err := r.integer(csvTasks)
	switch {
	case err != nil:
		return "", err
	case !given && r.at[csvTasks] < 0:
		j.Tasks = 1 // the table has no widths: one row is one task
	case !given:
	case tasks < 1:
		return skipNoTasks, nil
	default:
		j.Tasks = int(tasks)
	}
	return "", nil
}

func csvClassAndPriority(r *rows, j *Job) error {
	priority, _, err := r.integer(csvPriority)
	if err != nil {
		return err
	}
	j.Priority = int(priority)
	switch text := strings.ToLower(r.text(csvClass)); text {
	case "":
	case "service":
		j.Class = Service
	case "batch":
		j.Class = Batch
	case "best effort", "best-effort", "best_effort":
		j.Class = BestEffort
	default:
		return r.bad(csvClass, "not a class", "known: service, batch, best effort; or map the column to kind")
	}
	return nil
}

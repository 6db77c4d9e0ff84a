package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// column is one column of a table.
type column struct {
	names    []string // the first is ours; files may use any
	required bool
}

// layout describes a table: its columns, found by name in a header, or by place
// in the published file, which often has none.
type layout struct {
	separator byte // ' ' is any run of blanks
	comment   byte // a line that starts with it is none; 0: no comments
	columns   []column
	// places is the cell of each column in a file without header, -1 where it has
	// none; nil where a header is needed.
	places []int
	// shape is how cells of a file without header look: n number or nothing, N
	// number, w word, anything else is free. Its length is their count.
	shape string
	// byPlace: columns are found by place alone, whatever the cells look like; a
	// first row without a number in the first column is a header.
	byPlace bool
}

// bind finds the cell of every column in the first record of a file, and tells
// whether that is a header. A nil answer comes with the name of what is missing.
func (l *layout) bind(first [][]byte) (at []int, header bool, missing string) {
	if l.byPlace {
		return l.bindPlaces(first)
	}
	if l.places != nil && l.fits(first) {
		return l.places, false, ""
	}
	at = make([]int, len(l.columns))
	for i, c := range l.columns {
		at[i] = find(first, c.names)
		if at[i] < 0 && c.required {
			return nil, false, fmt.Sprintf("%q", c.names[0])
		}
	}
	return at, true, ""
}

func (l *layout) bindPlaces(first [][]byte) (at []int, header bool, missing string) {
	for i, c := range l.columns {
		if c.required && l.places[i] >= len(first) {
			return nil, false, "number " + c.names[0]
		}
	}
	_, number := parseNumber(first[l.places[0]])
	return l.places, !number, ""
}

// find is the first cell with one of the names, or -1.
func find(cells [][]byte, names []string) int {
	for _, name := range names {
		if i := slices.IndexFunc(cells, func(cell []byte) bool { return called(cell, name) }); i >= 0 {
			return i
		}
	}
	return -1
}

func called(cell []byte, name string) bool {
	return strings.EqualFold(name, string(bytes.TrimSpace(bytes.TrimPrefix(cell, []byte("\xef\xbb\xbf")))))
}

// twice names a column of a header that another cell is called like: which of them is
// meant cannot be known.
func (l *layout) twice(header [][]byte, at []int) (name string, cell int) {
	for i, c := range at {
		if c < 0 || c >= len(header) || l.byPlace {
			continue
		}
		for _, name := range l.columns[i].names {
			if !called(header[c], name) {
				continue
			}
			for other := c + 1; other < len(header); other++ {
				if called(header[other], name) {
					return name, other
				}
			}
		}
	}
	return "", -1
}

// fits tells whether a record looks like one of a file without header.
func (l *layout) fits(cells [][]byte) bool {
	if len(cells) != len(l.shape) {
		return false
	}
	for i, cell := range cells {
		_, number := parseNumber(cell)
		switch l.shape[i] {
		case 'n':
			if !number && len(cell) > 0 {
				return false
			}
		case 'N':
			if !number {
				return false
			}
		case 'w':
			if number || len(cell) == 0 {
				return false
			}
		}
	}
	return true
}

// recognises tells whether a file that starts with this line is this table: it
// has the required columns, or looks like the published file.
func (l *layout) recognises(first string) bool {
	r := rows{layout: l}
	if r.split([]byte(first)) != nil {
		return false
	}
	if l.places != nil && l.fits(r.cells) {
		return true
	}
	at, _, _ := l.bind(r.cells)
	return at != nil
}

// expected lists the columns, for hints.
func (l *layout) expected() string {
	var names []string
	for _, c := range l.columns {
		if c.required {
			names = append(names, c.names[0])
		}
	}
	text := "needed: " + strings.Join(names, ", ")
	if l.shape != "" {
		text += fmt.Sprintf("; or the published file of %d columns without header", len(l.shape))
	}
	return text
}

// role is the first of the layouts that recognises a first line.
func role(first string, of []tableRole) Role {
	if first == "" {
		return NoRole
	}
	for _, t := range of {
		if t.layout.recognises(first) {
			return t.role
		}
	}
	return NoRole
}

// tableRole says which role the files of a layout have.
type tableRole struct {
	layout *layout
	role   Role
}

package admission

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrOption: an option is unknown, or its value cannot be used.
var ErrOption = errors.New("unusable option")

// Parameter is one of Options.Values.
type Parameter struct {
	Name    string
	Default string
	Summary string
	// Choices are its values; nil where it is a number or a time.
	Choices []string
}

// parameterList is the parameters that a controller has.
type parameterList struct {
	controller string
	classes    bool // Options.Classes means something to it
	list       []Parameter
}

// settings are the values of all parameters; the first error is kept.
type settings struct {
	list   parameterList
	values map[string]string
	err    error
}

// read checks names and choices, and fills in defaults.
func (p parameterList) read(o Options) (*settings, error) {
	if o.Classes != 0 && !p.classes {
		return nil, fmt.Errorf("admission %s: %w: it has no classes, %d asked", p.controller, ErrOption, o.Classes)
	}
	s := &settings{list: p, values: map[string]string{}}
	names := make([]string, len(p.list))
	for i, one := range p.list {
		names[i] = one.Name
		s.values[one.Name] = one.Default
	}
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		at := slices.Index(names, name)
		if at < 0 {
			return nil, fmt.Errorf("admission %s: %w %q; known: %s", p.controller, ErrOption, name, known(names))
		}
		value := o.Values[name]
		if c := p.list[at].Choices; c != nil && !slices.Contains(c, value) {
			return nil, fmt.Errorf("admission %s: %w: %s = %q; one of %s is needed", p.controller, ErrOption, name, value, known(c))
		}
		s.values[name] = value
	}
	return s, nil
}

func known(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (s *settings) fail(name, wanted string) {
	if s.err == nil {
		s.err = fmt.Errorf("admission %s: %w: %s = %q; %s is needed", s.list.controller, ErrOption, name, s.values[name], wanted)
	}
}

func (s *settings) is(name, value string) bool { return s.values[name] == value }

// duration is above 0.
func (s *settings) duration(name string) time.Duration {
	d, err := time.ParseDuration(s.values[name])
	if err != nil || d <= 0 {
		s.fail(name, `a duration above 0, such as "2s",`)
	}
	return d
}

// number is finite and not below least.
func (s *settings) number(name string, least float64) float64 {
	v, err := strconv.ParseFloat(s.values[name], 64)
	if err != nil || !(v >= least) || math.IsInf(v, 0) {
		s.fail(name, fmt.Sprintf("a number from %g on", least))
	}
	return v
}

// whole is a whole number in a range.
func (s *settings) whole(name string, least, most int) int {
	v, err := strconv.Atoi(s.values[name])
	if err != nil || v < least || v > most {
		s.fail(name, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return v
}

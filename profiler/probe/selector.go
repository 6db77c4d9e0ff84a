package probe

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// selector picks the series of one metric: name, or name{label="value",…}.
type selector struct {
	name   string
	labels map[string]string
}

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelHead  = regexp.MustCompile(`^\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*`)
)

func parseSelector(text string) (selector, error) {
	name, rest, braces := strings.Cut(text, "{")
	s := selector{name: strings.TrimSpace(name), labels: map[string]string{}}
	if !metricName.MatchString(s.name) {
		return s, fmt.Errorf("%q is not a metric name", excerpt(s.name))
	}
	if !braces {
		return s, nil
	}
	rest, closed := strings.CutSuffix(strings.TrimSpace(rest), "}")
	if !closed {
		return s, errors.New("the selector's { is not closed at its end")
	}
	for rest = strings.TrimSpace(rest); rest != ""; {
		var err error
		if rest, err = s.label(rest); err != nil {
			return s, err
		}
	}
	return s, nil
}

// label reads one label="value" and the comma after it.
func (s *selector) label(text string) (rest string, err error) {
	head := labelHead.FindStringSubmatch(text)
	if head == nil {
		return "", fmt.Errorf("expected label=\"value\" at %q; only = is supported", excerpt(text))
	}
	text = text[len(head[0]):]
	if strings.HasPrefix(text, "~") {
		return "", fmt.Errorf("label %s: only = is supported, not =~", head[1])
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", fmt.Errorf("label %s: expected a quoted value at %q", head[1], excerpt(text))
	}
	value, err := strconv.Unquote(quoted)
	if err != nil {
		return "", fmt.Errorf("label %s: %w", head[1], err)
	}
	if _, twice := s.labels[head[1]]; twice {
		return "", fmt.Errorf("label %s is given twice", head[1])
	}
	s.labels[head[1]] = value
	rest = strings.TrimSpace(text[len(quoted):])
	if rest == "" {
		return "", nil
	}
	rest, comma := strings.CutPrefix(rest, ",")
	if !comma {
		return "", fmt.Errorf("expected a comma at %q", excerpt(rest))
	}
	return strings.TrimSpace(rest), nil
}

// matches: an absent label equals "", as in Prometheus.
func (s selector) matches(m *dto.Metric) bool {
	have := map[string]string{}
	for _, l := range m.GetLabel() {
		have[l.GetName()] = l.GetValue()
	}
	for name, value := range s.labels {
		if have[name] != value {
			return false
		}
	}
	return true
}

// series returns the matching series of a family.
func (s selector) series(f *dto.MetricFamily) []*dto.Metric {
	var out []*dto.Metric
	for _, m := range f.GetMetric() {
		if s.matches(m) {
			out = append(out, m)
		}
	}
	return out
}

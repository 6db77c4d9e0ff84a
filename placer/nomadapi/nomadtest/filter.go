package nomadtest

import (
	"net/http"
	"regexp"
	"strings"
)

// The filters this project sends: comparisons joined by and, or and parentheses,
// and one question about the meta of task groups. Anything else is refused, so
// that a new filter is not silently ignored.
var filterTokens = regexp.MustCompile(`\s*(any TaskGroups as g \{ "[^"]+" in g\.Meta \}|\(|\)|==|!=|and\b|or\b|"(?:[^"\\]|\\.)*"|[A-Za-z]+)`)

type filterParser struct {
	tokens []string
	bad    bool
}

type predicate func(Object) bool

func parseFilter(r *http.Request) (predicate, *refusal) {
	source := r.URL.Query().Get("filter")
	if source == "" {
		return func(Object) bool { return true }, nil
	}
	p := &filterParser{}
	rest := source
	for strings.TrimSpace(rest) != "" {
		m := filterTokens.FindStringSubmatchIndex(rest)
		if m == nil || m[0] != 0 {
			return nil, &refusal{http.StatusBadRequest, "filter not understood: " + rest}
		}
		p.tokens = append(p.tokens, rest[m[2]:m[3]])
		rest = rest[m[1]:]
	}
	keep := p.or()
	if p.bad || len(p.tokens) > 0 {
		return nil, &refusal{http.StatusBadRequest, "filter not understood: " + source}
	}
	return keep, nil
}

func (p *filterParser) next() string {
	if len(p.tokens) == 0 {
		p.bad = true
		return ""
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *filterParser) follows(word string) bool {
	if len(p.tokens) > 0 && p.tokens[0] == word {
		p.next()
		return true
	}
	return false
}

func (p *filterParser) or() predicate {
	left := p.and()
	for p.follows("or") {
		l, right := left, p.and()
		left = func(o Object) bool { return l(o) || right(o) }
	}
	return left
}

func (p *filterParser) and() predicate {
	left := p.term()
	for p.follows("and") {
		l, right := left, p.term()
		left = func(o Object) bool { return l(o) && right(o) }
	}
	return left
}

func (p *filterParser) term() predicate {
	if p.follows("(") {
		inside := p.or()
		p.bad = p.bad || !p.follows(")")
		return inside
	}
	first := p.next()
	if strings.HasPrefix(first, "any ") {
		key := strings.Split(first, `"`)[1]
		return func(o Object) bool {
			for _, g := range list(o, "TaskGroups") {
				if _, ok := sub(g, "Meta")[key]; ok {
					return true
				}
			}
			return false
		}
	}
	operator, value := p.next(), strings.Trim(p.next(), `"`)
	switch operator {
	case "==":
		return func(o Object) bool { return text(o, first) == value }
	case "!=":
		return func(o Object) bool { return text(o, first) != value }
	}
	p.bad = true
	return nil
}

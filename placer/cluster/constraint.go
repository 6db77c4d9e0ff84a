package cluster

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/go-version"
)

// Constraint is a Nomad constraint: attribute, operator, value.
type Constraint struct {
	Attribute string `json:"attribute"` // ${node.class}, ${attr.cpu.arch}, ${meta.rack}, …
	Operator  string `json:"operator"`
	Value     string `json:"value"`
}

// String prints the constraint as Nomad's messages do.
func (c Constraint) String() string {
	switch c.Operator {
	case "is_set", "is_not_set":
		return c.Attribute + " " + c.Operator
	case "":
		return c.Attribute + " = " + c.Value
	default:
		return c.Attribute + " " + c.Operator + " " + c.Value
	}
}

// CompiledConstraint is a constraint whose operator and patterns were parsed
// once, to be matched against many nodes.
type CompiledConstraint struct {
	Constraint
	left, right target
	match       func(left, right value) bool
}

// value is a resolved side of a constraint.
type value struct {
	text  string
	found bool
}

// CompileConstraint parses a constraint. O(1) per node afterwards, apart from
// the pattern's own cost.
func CompileConstraint(c Constraint) (CompiledConstraint, error) {
	k := CompiledConstraint{Constraint: c, left: parseTarget(c.Attribute), right: parseTarget(c.Value)}
	match, err := matcher(c, k.right)
	if err != nil {
		return CompiledConstraint{}, fmt.Errorf("constraint %q: %w", c.String(), err)
	}
	k.match = match
	return k, nil
}

// Match reports whether the node meets the constraint.
func (k CompiledConstraint) Match(n *Node) bool {
	return k.match(k.left.resolve(n), k.right.resolve(n))
}

// Explain says what the node has instead.
func (k CompiledConstraint) Explain(n *Node) string {
	left := k.left.resolve(n)
	if !left.found {
		return fmt.Sprintf("%s: the node has no %s", k.String(), k.Attribute)
	}
	return fmt.Sprintf("%s: the node has %q", k.String(), left.text)
}

// matcher returns the comparison of an operator. A pattern is compiled once
// where the right side is a literal, else per node.
func matcher(c Constraint, right target) (func(l, r value) bool, error) {
	switch c.Operator {
	case "", "=", "==", "is":
		return func(l, r value) bool { return l.found && r.found && l.text == r.text }, nil
	case "!=", "not":
		// A missing attribute counts as empty text: it differs from any value.
		return func(l, r value) bool { return l.text != r.text }, nil
	case "<", "<=", ">", ">=":
		return both(orderMatcher(c.Operator)), nil
	case "is_set":
		return func(l, _ value) bool { return l.found }, nil
	case "is_not_set":
		return func(l, _ value) bool { return !l.found }, nil
	case "set_contains", "set_contains_all":
		return both(containsAll), nil
	case "set_contains_any":
		return both(containsAny), nil
	case "regexp":
		return patternMatcher(right, compileRegexp)
	case "version":
		return patternMatcher(right, compileVersion)
	case "semver":
		return patternMatcher(right, compileSemver)
	case "distinct_hosts", "distinct_property":
		return func(_, _ value) bool { return true }, nil
	default:
		return nil, fmt.Errorf("unknown operator %q", c.Operator)
	}
}

// both lifts a comparison of texts to sides that must both exist.
func both(f func(l, r string) bool) func(l, r value) bool {
	return func(l, r value) bool { return l.found && r.found && f(l.text, r.text) }
}

// predicate is a compiled right side.
type predicate func(left string) bool

func patternMatcher(right target, compile func(string) (predicate, error)) (func(l, r value) bool, error) {
	if right.kind != literal {
		return both(func(l, r string) bool {
			p, err := compile(r)
			return err == nil && p(l)
		}), nil
	}
	p, err := compile(right.name)
	if err != nil {
		return nil, err
	}
	return func(l, _ value) bool { return l.found && p(l.text) }, nil
}

func compileRegexp(pattern string) (predicate, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	return re.MatchString, nil
}

// compileVersion is the operator "version": a pre-release is matched only by a
// constraint that names a pre-release, and ~> is known.
func compileVersion(text string) (predicate, error) {
	constraints, err := version.NewConstraint(text)
	if err != nil {
		return nil, err
	}
	return func(left string) bool {
		v, err := version.NewVersion(left)
		return err == nil && constraints.Check(v)
	}, nil
}

// semverOperators are those of Nomad's semver constraint, longest first. The
// pessimistic ~> is not among them.
var semverOperators = [...]string{">=", "<=", "!=", ">", "<", "="}

// compileSemver is the operator "semver": pre-releases are ordered as the
// Semantic Versioning 2.0 text says and not left out.
func compileSemver(text string) (predicate, error) {
	type bound struct {
		operator string
		version  *version.Version
	}
	var bounds []bound
	for part := range strings.SplitSeq(text, ",") {
		operator, rest := "=", strings.TrimSpace(part)
		for _, o := range semverOperators {
			if after, ok := strings.CutPrefix(rest, o); ok {
				operator, rest = o, strings.TrimSpace(after)
				break
			}
		}
		v, err := version.NewSemver(rest)
		if err != nil {
			return nil, err
		}
		bounds = append(bounds, bound{operator, v})
	}
	return func(left string) bool {
		v, err := version.NewVersion(left)
		if err != nil {
			return false
		}
		for _, b := range bounds {
			if !holds(b.operator, v.Compare(b.version)) {
				return false
			}
		}
		return true
	}, nil
}

// orderMatcher compares as integers where both sides are, else as floats where
// both are, else as text. Units are text to Nomad: "9MiB" is above "16 MiB".
func orderMatcher(operator string) func(l, r string) bool {
	return func(l, r string) bool { return holds(operator, compareValues(l, r)) }
}

// unordered is the comparison with NaN: no operator but != holds.
const unordered = 2

func compareValues(l, r string) int {
	li, lerr := strconv.ParseInt(l, 10, 64)
	ri, rerr := strconv.ParseInt(r, 10, 64)
	if lerr == nil && rerr == nil {
		return sign(li < ri, li > ri, true)
	}
	lf, lerr := strconv.ParseFloat(l, 64)
	rf, rerr := strconv.ParseFloat(r, 64)
	if lerr == nil && rerr == nil {
		return sign(lf < rf, lf > rf, lf == rf)
	}
	return strings.Compare(l, r)
}

func sign(less, more, equal bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	case equal:
		return 0
	default:
		return unordered
	}
}

func holds(operator string, comparison int) bool {
	switch operator {
	case "=":
		return comparison == 0
	case "!=":
		return comparison != 0
	case "<":
		return comparison == -1
	case "<=":
		return comparison == -1 || comparison == 0
	case ">":
		return comparison == 1
	case ">=":
		return comparison == 1 || comparison == 0
	default:
		return false
	}
}

// containsAll: the left list holds every item of the right one.
func containsAll(l, r string) bool {
	for item := range strings.SplitSeq(r, ",") {
		if !listHas(l, strings.TrimSpace(item)) {
			return false
		}
	}
	return true
}

// containsAny: the lists have an item in common.
func containsAny(l, r string) bool {
	for item := range strings.SplitSeq(r, ",") {
		if listHas(l, strings.TrimSpace(item)) {
			return true
		}
	}
	return false
}

func listHas(list, item string) bool {
	for have := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(have) == item {
			return true
		}
	}
	return false
}

package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// IdentityOf is all that a run of a policy depends on besides the seed: what else runs in the
// scenario, and under which seeds, makes no difference.
func (s *Scenario) IdentityOf(policy string) string {
	own := *s
	own.file.Seeds = nil
	own.file.Policies = slices.DeleteFunc(slices.Clone(s.file.Policies), func(p policyBlock) bool { return p.Name != policy })
	return own.Identity()
}

// Identity is all that runs depend on besides seeds: what the scenario
// says, its bases included, in one form. How it is written, in how many files, in
// which order of attributes and whether with defaults spelt out makes no
// difference, nor do title, source and notes, which are for readers only.
func (s *Scenario) Identity() string {
	f := s.file
	f.Title, f.Source, f.Notes = "", "", nil
	var out strings.Builder
	identify(&out, reflect.ValueOf(f))
	if s.world != nil {
		fmt.Fprintf(&out, "%+v", *s.world) // another fit of the same name is another world
	}
	return out.String()
}

// identify writes a value of the grammar. What is not set is left out, so that a new
// field of the grammar leaves the identity of files without it as it is.
func identify(out *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		out.WriteString("{")
		for field, value := range v.Fields() {
			if set(value) {
				fmt.Fprintf(out, "%s=", field.Name)
				identify(out, value)
				out.WriteString(";")
			}
		}
		out.WriteString("}")
	case reflect.Slice:
		out.WriteString("[")
		for i := range v.Len() {
			identify(out, v.Index(i))
			out.WriteString(",")
		}
		out.WriteString("]")
	case reflect.Pointer:
		identify(out, v.Elem())
	default:
		fmt.Fprintf(out, "%#v", v) // maps in the order of their keys
	}
}

// set: an empty list says what none says; an empty block is a block.
func set(v reflect.Value) bool {
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() > 0
	}
	return !v.IsZero()
}

package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ErrRequest: the request cannot be decided on.
var ErrRequest = errors.New("policy: unusable request")

// Policies lists every policy that a job may name, sorted by name: every selector,
// see live.go, and those that need more of a live cluster than a board.
func Policies() []Descriptor { return slices.Clone(policies()) }

// policies are sorted once: a job's is looked up several times on its way.
var policies = sync.OnceValue(func() []Descriptor {
	out := []Descriptor{nomadDescriptor, paragonDescriptor}
	for _, d := range Selectors() {
		if d.Name != paragonDescriptor.Name {
			out = append(out, live(d))
		}
	}
	slices.SortFunc(out, func(a, b Descriptor) int { return strings.Compare(a.Name, b.Name) })
	return out
})

// Names are those of Policies.
func Names() []string {
	var out []string
	for _, d := range policies() {
		out = append(out, d.Name)
	}
	return out
}

// Default is the name of the policy used where none is named.
const Default = "expected"

// Lookup returns the policy of that name, or an error that lists the known
// ones.
func Lookup(name string) (Descriptor, error) {
	for _, d := range policies() {
		if d.Name == name {
			return d, nil
		}
	}
	return Descriptor{}, fmt.Errorf("unknown policy %q; known: %s", name, strings.Join(Names(), ", "))
}

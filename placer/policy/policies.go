package policy

import (
	"errors"
	"fmt"
	"strings"
)

// ErrRequest: the request cannot be decided on.
var ErrRequest = errors.New("policy: unusable request")

// Policies lists every policy, sorted by name.
func Policies() []Descriptor {
	return []Descriptor{
		leastLoadedDescriptor,
		nomadDescriptor,
		paragonDescriptor,
		randomDescriptor,
	}
}

// Default is the name of the policy used where none is named.
const Default = "paragon"

// Lookup returns the policy of that name, or an error that lists the known
// ones.
func Lookup(name string) (Descriptor, error) {
	all := Policies()
	names := make([]string, len(all))
	for i, d := range all {
		if d.Name == name {
			return d, nil
		}
		names[i] = d.Name
	}
	return Descriptor{}, fmt.Errorf("unknown policy %q; known: %s", name, strings.Join(names, ", "))
}

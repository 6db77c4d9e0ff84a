package policy

import (
	"errors"
	"fmt"
	"strings"
)

// ErrRequest: the request cannot be decided on.
var ErrRequest = errors.New("policy: unusable request")

// Policies lists every policy, sorted by name. Those that need nothing of a live
// cluster beyond a board are their selectors; see live.go.
func Policies() []Descriptor {
	return []Descriptor{
		live(autoscaleSelector),
		live(firstFitSelector),
		live(greedyFitSelector),
		live(leastLoadedSelector),
		live(lotesSelector),
		live(lshSelector),
		live(mibsSelector),
		live(miosSelector),
		live(mixSelector),
		live(nhSelector),
		live(niSelector),
		nomadDescriptor,
		live(nomadBinpackSelector),
		live(nomadSpreadSelector),
		live(obfitSelector),
		paragonDescriptor,
		live(paragonStatisticalSelector),
		live(ppRTTESelector),
		live(quasarSelector),
		live(randomSelector),
		live(reservationLeastLoadedSelector),
		live(reservationParagonSelector),
		live(rtteSelector),
		live(sparrowSelector),
		live(tarcilSelector),
		live(tetrisSelector),
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

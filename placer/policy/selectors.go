package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Selectors lists every policy that chooses nodes on a board, sorted by name.
func Selectors() []SelectorDescriptor {
	return []SelectorDescriptor{
		autoscaleSelector,
		blocSelector,
		expectedSelector,
		firstFitSelector,
		greedyFitSelector,
		leastLoadedSelector,
		lotesSelector,
		lshSelector,
		mibsSelector,
		miosSelector,
		mixSelector,
		nhSelector,
		niSelector,
		nomadBinpackSelector,
		nomadSpreadSelector,
		obfitSelector,
		paragonSelector,
		paragonStatisticalSelector,
		ppRTTESelector,
		quasarSelector,
		randomSelector,
		reservationLeastLoadedSelector,
		reservationParagonSelector,
		rtteSelector,
		sparrowSelector,
		tarcilSelector,
		tetrisSelector,
	}
}

// LookupSelector returns the selector of that name, or an error that lists the
// known ones.
func LookupSelector(name string) (SelectorDescriptor, error) {
	all := Selectors()
	names := make([]string, len(all))
	for i, d := range all {
		if d.Name == name {
			return d, nil
		}
		names[i] = d.Name
	}
	return SelectorDescriptor{}, fmt.Errorf("unknown policy %q; known: %s", name, strings.Join(names, ", "))
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

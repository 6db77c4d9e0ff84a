package scenario

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
)

// classesOption is the one option of admission controllers that is a number for
// several of them, and not one of their own values.
const classesOption = "classes"

// admissionOptions reads the options of a policy block.
func admissionOptions(values map[string]string) (admission.Options, error) {
	o := admission.Options{Values: maps.Clone(values)}
	text, ok := values[classesOption]
	if !ok {
		return o, nil
	}
	delete(o.Values, classesOption)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return o, fmt.Errorf("%w: %s = %q; a whole number above 0 is needed", admission.ErrOption, classesOption, text)
	}
	o.Classes = n
	return o, nil
}

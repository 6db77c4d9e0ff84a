package scenario

import (
	"fmt"
	"maps"
	"slices"
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

// held checks the names of a policy's options of admission, and values of which there is a list.
func (c *checker) held(p *policyBlock, at blockAt) {
	d, err := admission.Lookup(p.Admission)
	if err != nil {
		return // it is told at the attribute
	}
	names := []string{classesOption}
	for _, one := range d.Parameters {
		names = append(names, one.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(p.AdmissionOptions)) {
		c.oneOf(name, names, "admission_options", at)
		for _, one := range d.Parameters {
			if one.Name == name && one.Choices != nil && !slices.Contains(one.Choices, p.AdmissionOptions[name]) {
				c.fail(c.at("admission_options", at), "%s", unknown(name, p.AdmissionOptions[name], one.Choices))
			}
		}
	}
}

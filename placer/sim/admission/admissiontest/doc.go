// Package admissiontest is the conformance suite of admission controllers, and
// the small world it plays scenarios in. Only tests import it.
package admissiontest

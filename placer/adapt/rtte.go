package adapt

import "github.com/nomad-placer/nomad-placer/placer/policy"

// newRTTE is Algorithm 1 where no slowdown is measured, nor expected: nothing is ever
// late, and what is left is to empty under-used nodes.
func newRTTE(o Options) Adapter {
	p := makePPRTTE(o)
	p.reacts, p.rest = false, nil
	return p
}

// newOBFIT is the same at full speed, by best fit.
func newOBFIT(o Options) Adapter {
	p := makePPRTTE(o)
	p.reacts, p.rest, p.fullSpeed, p.choose = false, nil, true, policy.LeastLeft
	return p
}

package worker

// Loops without a working set. They are other mixes of instructions than the
// kernels' own.

// hasher mixes integers: a victim of the integer units.
type hasher struct{ a, b, c, d uint64 }

const arithmeticQuantum = 8192

func (h *hasher) step() (count, error) {
	a, b, c, d := h.a, h.b, h.c, h.d
	for range arithmeticQuantum {
		a = a*6364136223846793005 + 1442695040888963407
		b ^= a >> 33
		b *= 0xff51afd7ed558ccd
		c += b<<13 | b>>51
		d = d - c ^ (d << 5)
	}
	h.a, h.b, h.c, h.d = a, b, c, d
	return count{ops: arithmeticQuantum}, nil
}

func (h *hasher) close() error { return nil }

var integerKind = Kind{
	Name: "integer", Unit: "rounds", Does: "mixes integers in registers",
	open: func(o Spec, thread int, _ *commons) (loop, error) {
		return &hasher{o.Seed, 2, 3, uint64(thread) + 4}, nil
	},
}

// polynomial evaluates Horner's rule: a victim of the floating-point units.
type polynomial struct{ a, b, c, d float64 }

func (p *polynomial) step() (count, error) {
	a, b, c, d := p.a, p.b, p.c, p.d
	for range arithmeticQuantum {
		// Each maps [0, 1] into itself: no overflow and no denormals.
		a = a*(a*-0.25+0.5) + 0.25
		b = b*(b*-0.125+0.25) + 0.375
		c = c*(c*-0.25+0.25) + 0.5
		d = d*(d*-0.125+0.5) + 0.125
	}
	p.a, p.b, p.c, p.d = a, b, c, d
	return count{ops: arithmeticQuantum}, nil
}

func (p *polynomial) close() error { return nil }

var floatKind = Kind{
	Name: "float", Unit: "rounds", Does: "evaluates polynomials in registers",
	open: func(Spec, int, *commons) (loop, error) {
		return &polynomial{0.1, 0.2, 0.3, 0.4}, nil
	},
}

// cycler adds one to the last result: one cycle each on every core of today, so
// it measures the clock.
type cycler struct{ at uint64 }

func (c *cycler) step() (count, error) {
	c.at = addChain(c.at, cycleRounds)
	return count{ops: cycleRounds * cyclesPerRound}, nil
}

const (
	cycleRounds    = 4096
	cyclesPerRound = 16
)

// addChain is kept out of line, and the shifted value unknown to the compiler,
// so that the sixteen dependent steps stay sixteen instructions.
//
//go:noinline
func addChain(v uint64, rounds int) uint64 {
	x := v | 1
	for range rounds {
		v = (v + x) ^ x
		v = (v + x) ^ x
		v = (v + x) ^ x
		v = (v + x) ^ x
		v = (v + x) ^ x
		v = (v + x) ^ x
		v = (v + x) ^ x
		v = (v + x) ^ x
	}
	return v
}

func (c *cycler) close() error { return nil }

var cycleKind = Kind{
	Name: "cycle", Unit: "cycles", Threads: 1, Does: "a chain of additions and exclusive ors that need each other's result, one clock cycle each",
	open: func(Spec, int, *commons) (loop, error) { return &cycler{}, nil },
}

// vectors runs eight chains of packed arithmetic.
type vectors struct{ state vectorState }

// vectorState holds eight vectors of two numbers, a factor and a summand.
type vectorState [20]float64

func (v *vectors) step() (count, error) {
	vectorChains(&v.state, arithmeticQuantum)
	return count{ops: arithmeticQuantum * 16}, nil
}

func (v *vectors) close() error { return nil }

func openVector(Spec, int, *commons) (loop, error) {
	if !haveVectors {
		return nil, errNoVectors
	}
	v := &vectors{}
	for i := range v.state[:16] {
		v.state[i] = 1 + float64(i)/32
	}
	// x/2 + 3/4 keeps [1, 2).
	v.state[16], v.state[17], v.state[18], v.state[19] = 0.5, 0.5, 0.75, 0.75
	return v, nil
}

var vectorKind = Kind{Name: "vector", Unit: "instructions", Does: "multiplies and adds vectors of two numbers in registers", open: openVector}

//go:build !amd64

package ibench

import "errors"

var errNoVectors = errors.New("its vector instructions are written for amd64 only")

// machineCode says whether kernels can make their own instructions here.
const machineCode = false

// callCode is never called where machineCode is false: no kernel that makes
// instructions can be prepared.
func callCode(uintptr, *codeState) { panic("ibench: machine code on an architecture without it") }

// cpuid has no answer: leaf 0 says that there is no leaf.
func cpuid(uint32, uint32) (eax, ebx, ecx, edx uint32) { return 0, 0, 0, 0 }

// The operations of one round of arithmetic, as below.
const (
	integerOpsPerRound = 8 * 4
	floatOpsPerRound   = 8 * 4
)

// integerRounds runs eight chains of add, multiply, shift and exclusive or,
// which the compiler keeps in registers.
func integerRounds(chain *[8]uint64, rounds int) {
	a, b, c, d := chain[0], chain[1], chain[2], chain[3]
	e, f, g, h := chain[4], chain[5], chain[6], chain[7]
	const add, multiply = 0x9e3779b9, 0x2545f491 // odd constants with mixed bits: no chain falls to zero
	for range rounds {
		a = (a + add) * multiply
		b = (b + add) * multiply
		c = (c + add) * multiply
		d = (d + add) * multiply
		e = (e + add) * multiply
		f = (f + add) * multiply
		g = (g + add) * multiply
		h = (h + add) * multiply
		a ^= a >> 7
		b ^= b >> 7
		c ^= c >> 7
		d ^= d >> 7
		e ^= e >> 7
		f ^= f >> 7
		g ^= g >> 7
		h ^= h >> 7
	}
	*chain = [8]uint64{a, b, c, d, e, f, g, h}
}

// floatRounds runs eight chains of two multiplications and two additions. The
// conversions forbid the compiler to fuse a pair into one instruction.
func floatRounds(chain *[12]float64, rounds int) {
	a, b, c, d := chain[0], chain[1], chain[2], chain[3]
	e, f, g, h := chain[4], chain[5], chain[6], chain[7]
	const m, n, p, q = 0.5, 0.75, 0.75, 0.375
	for range rounds {
		a = float64(a*m) + n
		b = float64(b*m) + n
		c = float64(c*m) + n
		d = float64(d*m) + n
		e = float64(e*m) + n
		f = float64(f*m) + n
		g = float64(g*m) + n
		h = float64(h*m) + n
		a = float64(a*p) + q
		b = float64(b*p) + q
		c = float64(c*p) + q
		d = float64(d*p) + q
		e = float64(e*p) + q
		f = float64(f*p) + q
		g = float64(g*p) + q
		h = float64(h*p) + q
	}
	chain[0], chain[1], chain[2], chain[3] = a, b, c, d
	chain[4], chain[5], chain[6], chain[7] = e, f, g, h
}

// vectorUnit has none: plain Go has no vector operations.
func vectorUnit() (unit vectorRounds, err error) { return vectorRounds{}, errNoVectors }

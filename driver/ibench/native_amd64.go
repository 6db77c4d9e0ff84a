package ibench

import "golang.org/x/sys/cpu"

// callCode calls instructions made at run time, which must keep to the rules
// of native_amd64.s.
//
//go:noescape
func callCode(entry uintptr, state *codeState)

// cpuid asks the processor for one leaf of what it says of itself.
func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// machineCode says whether kernels can make their own instructions here.
const machineCode = true

// The operations of one round of arithmetic, as native_amd64.s does them.
const (
	integerOpsPerRound = 8 * 4
	floatOpsPerRound   = 12 * 4
)

//go:noescape
func integerRounds(chain *[8]uint64, rounds int)

//go:noescape
func floatRounds(chain *[12]float64, rounds int)

//go:noescape
func vectorRoundsFMA(lanes *[48]float64, rounds int)

//go:noescape
func vectorRoundsSSE2(lanes *[48]float64, rounds int)

// vectorUnit returns the best vectors that the processor has.
func vectorUnit() (unit vectorRounds, err error) {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		return vectorRounds{name: "AVX2", opsPerRound: 12 * 2, run: vectorRoundsFMA}, nil
	}
	return vectorRounds{
		name: "SSE2", opsPerRound: 12 * 2, run: vectorRoundsSSE2,
		note: "the processor has no AVX2 with FMA: vectors of 128 bits exert less pressure",
	}, nil
}

package worker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Why a worker cannot run on an architecture.
var (
	errNoVectors = errors.New("no vector worker for " + runtime.GOARCH)
	errNoCode    = errors.New("no code worker for " + runtime.GOARCH)
)

// program is machine code made at run time: one block per cache line, linked
// in random order (or in sequence), each doing nothing but jump on.
type program struct {
	mem    []byte
	entry  uintptr
	run    func()
	blocks int
}

// newProgram writes the code, then makes it executable and no longer writable.
func newProgram(size int64, random *rand.Rand) (*program, error) {
	if !haveCode {
		return nil, errNoCode
	}
	blocks := int(size) / lineBytes
	if blocks < 2 {
		return nil, fmt.Errorf("%d bytes hold no two blocks of code", size)
	}
	mem, err := mapMemory(int64(blocks)*lineBytes, false)
	if err != nil {
		return nil, err
	}
	order := make([]int, blocks)
	for i := range order {
		order[i] = i
	}
	if random != nil {
		random.Shuffle(blocks-1, func(i, j int) { order[i+1], order[j+1] = order[j+1], order[i+1] })
	}
	for i, at := range order {
		next := -1
		if i+1 < blocks {
			next = order[i+1]
		}
		writeBlock(mem[at*lineBytes:(at+1)*lineBytes], (next-at)*lineBytes, next < 0)
	}
	if err := unix.Mprotect(mem, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return nil, errors.Join(fmt.Errorf("make code executable: %w", err), unmapMemory(mem))
	}
	p := &program{mem: mem, entry: uintptr(unsafe.Pointer(&mem[0])), blocks: blocks}
	// A Go func value points to a word that holds the address of its code. The
	// code uses no stack and no register, so the Go runtime does not notice it.
	word := &p.entry
	p.run = *(*func())(unsafe.Pointer(&word))
	return p, nil
}

func (p *program) close() error { return unmapMemory(p.mem) }

// coder runs its program over and over.
type coder struct{ *program }

func (c coder) step() (count, error) {
	rounds := max(1, chaseQuantum/c.blocks)
	for range rounds {
		c.run()
	}
	return count{ops: uint64(rounds * c.blocks)}, nil
}

var codeKind = Kind{
	Name: "code", Unit: "lines", Does: "runs code of the size of its working set, one jump per cache line; in sequence if the stride is 0, else in random order",
	open: func(o Spec, thread int, _ *commons) (loop, error) {
		var random *rand.Rand
		if o.Stride > 0 {
			random = rand.New(rand.NewPCG(o.Seed, uint64(thread)))
		}
		p, err := newProgram(o.Bytes, random)
		if err != nil {
			return nil, err
		}
		return coder{p}, nil
	},
}

// round runs the code once.
func (p *program) round() { p.run() }

func (p *program) lines() int { return p.blocks }

var codeProbeKind = Kind{
	Name: "code-probe", Unit: "lines", Threads: 1, Does: "runs its code, keeps still, and times the run after",
	open: func(o Spec, _ int, _ *commons) (loop, error) {
		random := rand.New(rand.NewPCG(o.Seed, 2))
		return newProber(o, func(bytes int64) (unit, error) { return newProgram(bytes, random) })
	},
}

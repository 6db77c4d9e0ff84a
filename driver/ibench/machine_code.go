package ibench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"golang.org/x/sys/unix"
)

// errNoMachineCode is why a kernel that writes its own instructions does not
// run on other architectures.
var errNoMachineCode = errors.New("it writes its own instructions, and only those of amd64")

// codeState is what generated code and its caller share. Its layout is known
// to the code of maze.
type codeState struct {
	random uint64      // state of the generator
	blocks uint64      // to run
	table  [64]uintptr // addresses of the blocks
}

// The instructions of amd64 that the generated code is made of.
var (
	codeRet   = []byte{0xc3}
	codeJump  = []byte{0xe9}                                           // jmp, 32-bit distance follows
	codeNop8  = []byte{0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00} // nop, eight bytes
	codeEnter = []byte{
		0x48, 0x8b, 0x07, // mov rax, [rdi]: codeState.random
		0x48, 0x8b, 0x57, 0x08, // mov rdx, [rdi+8]: codeState.blocks
		0x48, 0x8d, 0x5f, 0x10, // lea rbx, [rdi+16]: codeState.table
	}
	codeLeave = []byte{
		0x48, 0x89, 0x07, // mov [rdi], rax
		0xc3, // ret
	}
	// codeXorshift draws the next number of a 64-bit xorshift generator with
	// shifts 13, 7, 17 (Marsaglia 2003, §4).
	codeXorshift = []byte{
		0x48, 0x89, 0xc1, 0x48, 0xc1, 0xe1, 13, 0x48, 0x31, 0xc8, // rax ^= rax << 13
		0x48, 0x89, 0xc1, 0x48, 0xc1, 0xe9, 7, 0x48, 0x31, 0xc8, // rax ^= rax >> 7
		0x48, 0x89, 0xc1, 0x48, 0xc1, 0xe1, 17, 0x48, 0x31, 0xc8, // rax ^= rax << 17
	}
	codeCount  = []byte{0x48, 0xff, 0xca} // dec rdx
	codeIfZero = []byte{0x0f, 0x84}       // jz, 32-bit distance follows
	codeChoose = []byte{
		0x89, 0xc1, // mov ecx, eax
		0x83, 0xe1, 63, // and ecx, 63
		0xff, 0x24, 0xcb, // jmp [rbx+rcx*8]
	}
)

// codeRegion is memory for instructions: written first, executable after,
// never both at once. It begins at a multiple of the size of a huge page:
// branch target buffers and the cache of decoded instructions know code by parts
// of its address, and a kernel should exert the same pressure however often it is started
// (measured: the curve of a start does not fit the next one otherwise).
type codeRegion struct {
	*region
	at int // offset of the next instruction
}

func newCodeRegion(bytes int) (*codeRegion, error) {
	if !machineCode {
		return nil, errNoMachineCode
	}
	r, err := newRegion(int64(bytes), true)
	if err != nil {
		return nil, err
	}
	return &codeRegion{region: r}, nil
}

// emit writes an instruction and moves on.
func (c *codeRegion) emit(code ...byte) { c.at += copy(c.data[c.at:], code) }

// jump writes a jump, or the conditional one given, to an offset.
func (c *codeRegion) jump(opcode []byte, target int) {
	c.emit(opcode...)
	const distanceBytes = 4
	distance := uint32(int32(target - (c.at + distanceBytes)))
	c.emit(byte(distance), byte(distance>>8), byte(distance>>16), byte(distance>>24))
}

// pad writes instructions that do nothing up to an offset.
func (c *codeRegion) pad(end int) {
	for ; c.at+len(codeNop8) <= end; c.emit(codeNop8...) {
	}
	for c.at < end {
		c.emit(0x90) // nop
	}
}

// seal makes the code executable and no longer writable.
func (c *codeRegion) seal() error {
	if err := unix.Mprotect(c.all, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return fmt.Errorf("make the kernel's instructions executable, which a security policy may forbid: %w", err)
	}
	return nil
}

// entry is the address of the code at an offset.
func (c *codeRegion) entry(offset int) uintptr { return uintptr(c.base()) + uintptr(offset) }

// Each line of a codeWalk holds one jump for each of its orders.
const (
	codeLineBytes = 64
	codeSlotBytes = 8
	codeOrders    = codeLineBytes / codeSlotBytes
	// codeGroup lines join the walk together, and are shuffled among each other
	// between the orders.
	codeGroup = 8
)

// codeWalk runs through cache lines of jumps, each leading to the next line.
// There are eight orders, taken in turn: with one alone the jumps would be
// served by the processor's cache of decoded instructions, which knows them by
// their address, and not by the instruction cache (measured). A walk over a part
// of the lines enters an order later; nothing is written once the code is sealed.
type codeWalk struct {
	code    *codeRegion
	lines   int
	groups  int                   // in the walk
	order   int                   // of the next pass
	entries [codeOrders][]uintptr // by number of groups less one
	state   codeState
}

// newCodeWalk lays the walk over that many lines. Lines join in layers of
// sets lines, as in newRing.
func newCodeWalk(lines, sets int, random *rand.Rand) (*codeWalk, error) {
	lines = lines / codeGroup * codeGroup
	if lines == 0 {
		return nil, fmt.Errorf("a footprint of %d lines is too small to walk", lines)
	}
	code, err := newCodeRegion(lines * codeLineBytes)
	if err != nil {
		return nil, err
	}
	w := &codeWalk{code: code, lines: lines}
	joined := layers(lines, sets, random)
	for slot := range codeOrders {
		w.entries[slot] = w.code.chain(slot, joined, random)
	}
	if err := code.seal(); err != nil {
		return nil, errors.Join(err, code.Close())
	}
	w.resize(lines)
	return w, nil
}

// chain writes the jumps of one order. A walk over the first k groups enters
// at the k-th and goes on to the first: chain returns the entries.
func (c *codeRegion) chain(slot int, joined []uint32, random *rand.Rand) (entries []uintptr) {
	next := -1
	for start := 0; start < len(joined); start += codeGroup {
		group := slices.Clone(joined[start : start+codeGroup])
		random.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		next = c.link(slot, group, next)
		entries = append(entries, c.entry(next))
	}
	return entries
}

// link writes one jump per line, from the last line to the first and from that
// to the offset next, or a return where that is negative. It returns the offset
// of the last line's jump.
func (c *codeRegion) link(slot int, lines []uint32, next int) int {
	for _, line := range lines {
		c.at = int(line)*codeLineBytes + slot*codeSlotBytes
		at := c.at
		if next < 0 {
			c.emit(codeRet...)
		} else {
			c.jump(codeJump, next)
		}
		c.pad(at + codeSlotBytes)
		next = at
	}
	return next
}

func (w *codeWalk) resize(n int) {
	w.groups = min(max((n+codeGroup/2)/codeGroup, 1), w.lines/codeGroup)
}

func (w *codeWalk) size() int { return w.groups * codeGroup }

func (w *codeWalk) all() int { return w.lines }

// advance runs through the walk in whole passes.
func (w *codeWalk) advance(lines int) int {
	done := 0
	for ; done < lines; done += w.size() {
		callCode(w.entries[w.order][w.groups-1], &w.state)
		w.order = (w.order + 1) % codeOrders
	}
	return done
}

func (w *codeWalk) Close() error { return w.code.Close() }

// maze is code whose every block ends in a jump to a random block.
type maze struct {
	code  *codeRegion
	enter uintptr
	state codeState
}

// newMaze lays the blocks over that many bytes.
func newMaze(bytes int, seed uint64) (*maze, error) {
	const head = codeLineBytes // entry and exit
	m := &maze{}
	blocks := len(m.state.table)
	each := max((bytes-head)/blocks, codeLineBytes)
	code, err := newCodeRegion(head + blocks*each)
	if err != nil {
		return nil, err
	}
	const leave = head - 8 // room for codeLeave
	code.emit(codeEnter...)
	code.jump(codeJump, head)
	code.at = leave
	code.emit(codeLeave...)
	for i := range blocks {
		code.at = head + i*each
		m.state.table[i] = code.entry(code.at)
		code.emit(codeXorshift...)
		code.emit(codeCount...)
		code.jump(codeIfZero, leave)
		code.pad(head + (i+1)*each - len(codeChoose))
		code.emit(codeChoose...)
	}
	if err := code.seal(); err != nil {
		return nil, errors.Join(err, code.Close())
	}
	m.code, m.enter = code, code.entry(0)
	m.state.random = seed | 1 // the generator must not start at zero
	return m, nil
}

// run goes through that many blocks.
func (m *maze) run(blocks int) {
	m.state.blocks = uint64(blocks)
	callCode(m.enter, &m.state)
}

func (m *maze) Close() error { return m.code.Close() }

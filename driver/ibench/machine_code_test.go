package ibench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// needMachineCode skips tests of generated code where there is none.
func needMachineCode(t *testing.T) {
	t.Helper()
	if !machineCode {
		t.Skip("generated code is for amd64 only")
	}
}

// visited follows the jumps of a code walk from its entry, as the processor
// would, and returns the lines it comes through.
func visited(t *testing.T, code *codeRegion, entry uintptr) []int {
	t.Helper()
	var lines []int
	at := int(entry - uintptr(code.base()))
	for len(lines) <= len(code.data)/codeLineBytes {
		lines = append(lines, at/codeLineBytes)
		switch code.data[at] {
		case codeRet[0]:
			return lines
		case codeJump[0]:
			distance := int32(binary.LittleEndian.Uint32(code.data[at+1:]))
			at += len(codeJump) + 4 + int(distance)
		default:
			t.Fatalf("offset %d: instruction %#x", at, code.data[at])
		}
	}
	t.Fatal("the walk does not end")
	return nil
}

// Every order of a walk comes through exactly the lines of its groups, each
// once, and the orders differ.
func TestCodeWalkVisitsItsFootprint(t *testing.T) {
	t.Parallel()
	needMachineCode(t)
	const lines, sets = 128, 64
	w, err := newCodeWalk(lines, sets, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(w)
	for _, n := range []int{1, 8, 60, 64, 100, 128, 500} {
		w.resize(n)
		first := ""
		var want map[int]bool
		for order := range codeOrders {
			got := visited(t, w.code, w.entries[order][w.groups-1])
			seen := map[int]bool{}
			for _, line := range got {
				seen[line] = true
			}
			if len(got) != w.size() || len(seen) != w.size() {
				t.Fatalf("size %d, order %d: %d steps over %d lines", w.size(), order, len(got), len(seen))
			}
			if order == 0 {
				first, want = fmt.Sprint(got), seen
			} else if fmt.Sprint(got) == first {
				t.Errorf("size %d: order %d is the first one", w.size(), order)
			}
			for line := range want {
				if !seen[line] {
					t.Fatalf("size %d: order %d does not visit line %d", w.size(), order, line)
				}
			}
		}
		if got := w.advance(n); got < n {
			t.Errorf("advanced by %d of %d", got, n)
		}
	}
}

// A recall touches the lines in the opposite order of the priming.
func TestCodeProbeRecallsBackwards(t *testing.T) {
	t.Parallel()
	needMachineCode(t)
	p, err := newCodeProbe(64, 64, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(p)
	forth, back := visited(t, p.code, p.entries[0]), visited(t, p.code, p.entries[codeOrders-1])
	for i := range forth {
		if len(back) != len(forth) || forth[i] != back[len(back)-1-i] {
			t.Fatalf("forth %v, back %v", forth, back)
		}
	}
	p.prime()
	p.recall()
}

// The maze draws one random number per block and ends after the blocks asked
// for.
func TestMazeRunsItsBlocks(t *testing.T) {
	t.Parallel()
	needMachineCode(t)
	m, err := newMaze(8<<10, 41)
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(m)
	want := m.state.random
	for _, blocks := range []int{1, 2, 1000} {
		for range blocks {
			want ^= want << 13
			want ^= want >> 7
			want ^= want << 17
		}
		if m.run(blocks); m.state.random != want {
			t.Errorf("after %d blocks %#x, want %#x", blocks, m.state.random, want)
		}
	}
}

// Code is never writable and executable at once, and gone after Close.
func TestCodeIsSealed(t *testing.T) {
	needMachineCode(t)
	m, err := newMaze(8<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	address := uintptr(m.code.base())
	if got := protection(t, address); got != "r-xp" {
		t.Errorf("sealed code is %q", got)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if got := protection(t, address); got == "r-xp" {
		t.Error("the code is still mapped")
	}
}

// protection returns the flags of the mapping that holds an address, empty
// where nothing is mapped.
func protection(t *testing.T, address uintptr) string {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		var flags string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &flags); err == nil && from <= address && address < to {
			return flags
		}
	}
	return ""
}

func TestCodeWalkTooSmall(t *testing.T) {
	t.Parallel()
	if w, err := newCodeWalk(codeGroup-1, 64, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Errorf("a walk of %d lines", w.lines)
	}
	if _, err := newCodeWalk(64, 64, rand.New(rand.NewPCG(1, 1))); !machineCode && !errors.Is(err, errNoMachineCode) {
		t.Errorf("without machine code: %v", err)
	}
}

// codeState is laid out as the instructions of codeEnter expect.
func TestCodeStateLayout(t *testing.T) {
	t.Parallel()
	var s codeState
	if unsafe.Offsetof(s.random) != 0 || unsafe.Offsetof(s.blocks) != 8 || unsafe.Offsetof(s.table) != 16 {
		t.Error("the layout has changed, the instructions have not")
	}
}

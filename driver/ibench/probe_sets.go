package ibench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"unsafe"
)

// probeOrder is the randomness of a probe's order, not that of the kernel.
func probeOrder(s Setup) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, 1<<63)) }

// dataProbe is a probe set of memory lines.
type dataProbe struct{ ring *ring }

// backOffset is where a line of the probe holds the way back.
const backOffset = 8

// newDataProbe lays a probe over lines of memory, as newRing does.
func newDataProbe(bytes int64, lineBytes, sets int, huge bool, random *rand.Rand) (*dataProbe, error) {
	lines := bytes / int64(lineBytes) / ringCursors * ringCursors
	r, err := newRing(lines*int64(lineBytes), lineBytes, sets, huge, random)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	for i := range r.order {
		before := r.order[(i+len(r.order)-1)%len(r.order)]
		*(*uint64)(unsafe.Add(r.region.base(), int(r.order[i])*r.line+backOffset)) = uint64(before) * uint64(r.line)
	}
	return &dataProbe{r}, nil
}

func (p *dataProbe) steps() int { return len(p.ring.order) / ringCursors }

func (p *dataProbe) lines() int { return len(p.ring.order) }

func (p *dataProbe) prime() {
	for range 2 {
		at := p.ring.spread()
		p.ring.walk(&at, p.steps())
	}
}

func (p *dataProbe) recall() {
	var at cursors
	for i := range at {
		at[i] = uint64(p.ring.order[(i+1)*p.steps()-1]) * uint64(p.ring.line)
	}
	walkLinks(unsafe.Add(p.ring.region.base(), backOffset), &at, p.steps())
}

func (p *dataProbe) Close() error { return p.ring.Close() }

// screenFactor is by how much the screen is larger than what it fills (chosen by
// us: twice the size leaves nothing, whatever the replacement).
const screenFactor = 2

// screenedProbe is a probe set of memory lines with a screen.
type screenedProbe struct {
	*dataProbe
	cover    *ring
	capacity int // lines
}

// screenedFraction is the part of the capacity that a screened probe takes. The
// capacity of a cache that others use is a footprint of which it serves half: a
// probe of that size would have lost the other half before the kernel begins. A
// much smaller one loses nothing until the kernel fills the rest, and then
// everything at once (measured). Chosen by us in between.
const screenedFraction = 2

// newScreenedProbe makes a probe of a capacity, with a screen of the size of the
// cache below.
func newScreenedProbe(capacity, below int64, llc Cache, random *rand.Rand) (*screenedProbe, error) {
	bytes := min(max(capacity/screenedFraction, screenFactor*below), capacity)
	p, err := newDataProbe(bytes, llc.LineBytes, llc.Sets, true, random)
	if err != nil {
		return nil, err
	}
	cover, err := newRing(screenFactor*below, llc.LineBytes, 0, true, random)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("screen: %w", err), p.Close())
	}
	return &screenedProbe{p, cover, int(capacity) / llc.LineBytes}, nil
}

func (p *screenedProbe) lines() int { return p.capacity }

func (p *screenedProbe) screen() {
	at := p.cover.spread()
	p.cover.walk(&at, p.cover.n/ringCursors)
}

// prime fetches the lines with the screen up, so that they are where a recall
// without pressure finds them.
func (p *screenedProbe) prime() {
	p.dataProbe.prime()
	p.screen()
}

func (p *screenedProbe) Close() error { return errors.Join(p.dataProbe.Close(), p.cover.Close()) }

// codeProbe is a probe set of instructions: one order forth in all slots but
// the last, and back in that. Priming goes back first, so that the branch target
// buffers know the way, and forth several times after, so that the cache of
// decoded instructions has forgotten it.
type codeProbe struct {
	code    *codeRegion
	size    int // lines
	entries [codeOrders]uintptr
	state   codeState
}

func newCodeProbe(lines, sets int, random *rand.Rand) (*codeProbe, error) {
	lines = lines / codeGroup * codeGroup
	code, err := newCodeRegion(lines * codeLineBytes)
	if err != nil {
		return nil, err
	}
	p := &codeProbe{code: code, size: lines}
	order := layers(lines, sets, random)
	for slot := range codeOrders {
		if slot == codeOrders-1 {
			slices.Reverse(order)
		}
		p.entries[slot] = code.entry(code.link(slot, order, -1))
	}
	if err := code.seal(); err != nil {
		return nil, errors.Join(err, code.Close())
	}
	return p, nil
}

func (p *codeProbe) lines() int { return p.size }

func (p *codeProbe) prime() {
	for range 2 {
		p.recall()
		for _, entry := range p.entries[:codeOrders-1] {
			callCode(entry, &p.state)
		}
	}
}

func (p *codeProbe) recall() { callCode(p.entries[codeOrders-1], &p.state) }

func (p *codeProbe) Close() error { return p.code.Close() }

// pageProbe is a probe set of pages.
type pageProbe struct {
	forth *pageWalk
	back  pageWalk // over the same pages
}

func newPageProbe(pages int, random *rand.Rand) (*pageProbe, error) {
	forth, err := newPageWalk(pages/pageCursors*pageCursors, random)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	p := &pageProbe{forth: forth, back: *forth}
	p.back.order = slices.Clone(forth.order)
	slices.Reverse(p.back.order)
	return p, nil
}

func (p *pageProbe) lines() int   { return p.forth.size() }
func (p *pageProbe) prime()       { p.forth.advance(2 * p.forth.size()) }
func (p *pageProbe) recall()      { p.back.advance(p.back.size()) }
func (p *pageProbe) Close() error { return p.forth.Close() }

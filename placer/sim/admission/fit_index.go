package admission

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// fitIndex is a long list of waiting items in a total order, in blocks that know the
// least of each resource any of their items needs: who fits a node is found without
// a look at most of those that do not.
type fitIndex struct {
	order  func(a, b *waiting) int
	blocks []*sortedBlock
}

type sortedBlock struct {
	items []*waiting
	least cluster.Resources
}

// blockMost items are in a block; then it is split in two.
const blockMost = 64

// block is the index of the first block whose last item is not in front of w.
func (c *fitIndex) block(w *waiting) int {
	at, _ := slices.BinarySearchFunc(c.blocks, w, func(b *sortedBlock, w *waiting) int { return c.order(b.items[len(b.items)-1], w) })
	return at
}

func (c *fitIndex) add(w *waiting) {
	if len(c.blocks) == 0 {
		c.blocks = append(c.blocks, &sortedBlock{items: []*waiting{w}, least: least(w.item.Ask)})
		return
	}
	at := min(c.block(w), len(c.blocks)-1)
	b := c.blocks[at]
	i, _ := slices.BinarySearchFunc(b.items, w, c.order)
	b.items = slices.Insert(b.items, i, w)
	if len(b.items) <= blockMost {
		b.measure()
		return
	}
	half := &sortedBlock{items: slices.Clone(b.items[blockMost/2:])}
	b.items = b.items[:blockMost/2]
	b.measure()
	half.measure()
	c.blocks = slices.Insert(c.blocks, at+1, half)
}

// remove an item that is there.
func (c *fitIndex) remove(w *waiting) {
	at := c.block(w)
	b := c.blocks[at]
	i, _ := slices.BinarySearchFunc(b.items, w, c.order)
	b.items = slices.Delete(b.items, i, i+1)
	if len(b.items) == 0 {
		c.blocks = slices.Delete(c.blocks, at, at+1)
		return
	}
	b.measure()
}

func (b *sortedBlock) measure() {
	b.least = least(b.items[0].item.Ask)
	for _, w := range b.items[1:] {
		s := least(w.item.Ask)
		b.least = cluster.Resources{
			CPUMHz: min(b.least.CPUMHz, s.CPUMHz), Cores: min(b.least.Cores, s.Cores), MemoryMB: min(b.least.MemoryMB, s.MemoryMB), DiskMB: min(b.least.DiskMB, s.DiskMB),
		}
	}
}

// each visits, in order, the items that a node may run now, until visit says that it
// has seen enough.
func (c *fitIndex) each(b *board.Board, n board.Index, visit func(w *waiting) (more bool)) {
	for _, block := range c.blocks {
		if !b.Fits(n, block.least) {
			continue
		}
		for _, w := range block.items {
			if mayRun(b, n, w.item.Ask) && !visit(w) {
				return
			}
		}
	}
}

// all items, in order.
func (c *fitIndex) all() []*waiting {
	var out []*waiting
	for _, b := range c.blocks {
		out = append(out, b.items...)
	}
	return out
}

package policy

import (
	"math/bits"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// rings are the hashes of the nodes' tolerated scores, one ring of 14-bit keys
// per source (Delimitrou 2015, §3.4.2). A node is hashed again where its score
// changed. The paper leaves open how an output maps to a node: here it is the
// node at the key, or at the next key that has one, and then up to seven such keys
// further: without that, nodes behind a wide gap are drawn far more often, and
// the sample is not uniform. A lookup is O(1) while nodes are not far fewer than
// keys, and never more than a few times the ring's words.
type rings struct {
	board *board.Board
	rings []ring
	keys  []uint16 // node-major: the node's key on each ring
	score []float64
	seen  []uint64 // by node: the draw that saw it last
	draws uint64
	chain []uint16 // by source: the last output, while drawing
}

const (
	ringBits = 14
	ringKeys = 1 << ringBits
)

// ring is a list of nodes at every key.
type ring struct {
	first      [ringKeys]int32 // node + 1; 0: none
	occupied   [ringKeys / 64]uint64
	next, prev []int32 // by node, +1
}

func newRings(b *board.Board) *rings {
	r := &rings{board: b, rings: make([]ring, len(b.Columns)), chain: make([]uint16, len(b.Columns))}
	for i := range b.Len() {
		r.NodeChanged(board.Index(i))
	}
	b.Listen(r)
	return r
}

// NodeChanged implements board.Listener.
func (r *rings) NodeChanged(n board.Index) {
	k := len(r.rings)
	fresh := int(n) >= len(r.seen)
	if fresh {
		r.seen = append(r.seen, 0)
		r.keys = append(r.keys, make([]uint16, k)...)
		r.score = append(r.score, make([]float64, k)...)
		for i := range r.rings {
			r.rings[i].next, r.rings[i].prev = append(r.rings[i].next, 0), append(r.rings[i].prev, 0)
		}
	}
	for i, t := range r.board.Tolerated(n) {
		at := int(n)*k + i
		if !fresh && r.score[at] == t {
			continue
		}
		if !fresh {
			r.rings[i].remove(int32(n), r.keys[at])
		}
		r.score[at] = t
		r.keys[at] = ringKey(ringHash(i, quantised(t), uint64(n)+1))
		r.rings[i].insert(int32(n), r.keys[at])
	}
}

// quantised is a score with the paper's 14 bits.
func quantised(percent float64) uint64 {
	return uint64(min(1, max(0, percent/100)) * (ringKeys - 1))
}

// ringHash is h_k, a mix of source, value and salt. The paper uses SHA-1; nothing
// here needs to withstand an attacker.
func ringHash(source int, value, salt uint64) uint64 {
	x := value ^ salt<<ringBits ^ uint64(source)<<56
	for _, m := range [2]uint64{0xbf58476d1ce4e5b9, 0x94d049bb133111eb} { // splitmix64, Steele 2014
		x = (x + 0x9e3779b97f4a7c15) * m
		x ^= x >> 29
	}
	return x
}

// ringKey is the first 14 bits of a hash.
func ringKey(hash uint64) uint16 { return uint16(hash >> (64 - ringBits)) }

// ringFurther is how many occupied keys further a hash points: its last bits.
func ringFurther(hash uint64) int { return int(hash & 7) }

// insert keeps the nodes of a key in order, so that a ring depends on the board
// alone and not on its history.
func (r *ring) insert(n int32, key uint16) {
	before, after := int32(0), r.first[key]
	for after != 0 && after < n+1 {
		before, after = after, r.next[after-1]
	}
	r.next[n], r.prev[n] = after, before
	if after != 0 {
		r.prev[after-1] = n + 1
	}
	if before != 0 {
		r.next[before-1] = n + 1
		return
	}
	r.first[key] = n + 1
	r.occupied[key/64] |= 1 << (key % 64)
}

func (r *ring) remove(n int32, key uint16) {
	next, prev := r.next[n], r.prev[n]
	if next != 0 {
		r.prev[next-1] = prev
	}
	if prev != 0 {
		r.next[prev-1] = next
		return
	}
	r.first[key] = next
	if next == 0 {
		r.occupied[key/64] &^= 1 << (key % 64)
	}
}

// at is the occupied key that a hash points to; ok is false where the ring is
// empty.
func (r *ring) at(hash uint64) (key uint16, ok bool) {
	key, ok = r.successor(ringKey(hash))
	for range ringFurther(hash) {
		key, ok = r.successor((key + 1) % ringKeys)
	}
	return key, ok
}

// successor is the first occupied key from key on, around the ring; ok is false
// where the ring is empty.
func (r *ring) successor(key uint16) (uint16, bool) {
	word := int(key / 64)
	w := r.occupied[word] >> (key % 64) << (key % 64)
	for range len(r.occupied) + 1 {
		if w != 0 {
			return uint16(word*64 + bits.TrailingZeros64(w)), true
		}
		word = (word + 1) % len(r.occupied)
		w = r.occupied[word]
	}
	return 0, false
}

// draw adds up to n distinct nodes with room to the candidates: on each ring in turn,
// the newcomer's caused score is hashed, then the output again, and so on.
func (r *rings) draw(f *tentative, n int) {
	r.draws++
	sources := len(r.rings)
	for step := 0; len(f.nodes) < n && step < statisticalTries*n && sources > 0; step++ {
		i := step % sources
		value := quantised(f.request.Caused[i])
		if step >= sources {
			value = uint64(r.chain[i])
		}
		hash := ringHash(i, value, uint64(step/sources)<<32)
		r.chain[i] = ringKey(hash)
		at, ok := r.rings[i].at(hash)
		if !ok {
			return
		}
		f.examined++
		for node := r.rings[i].first[at]; node != 0; node = r.rings[i].next[node-1] {
			if r.visit(f, board.Index(node-1)) {
				break
			}
		}
	}
}

// visit takes a node into the sample, once, if it has room.
func (r *rings) visit(f *tentative, n board.Index) bool {
	if r.seen[n] == r.draws {
		return false
	}
	r.seen[n] = r.draws
	if !f.open(n) {
		return false
	}
	f.nodes = append(f.nodes, n)
	return true
}

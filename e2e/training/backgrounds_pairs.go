package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// Repeats of a pair.
const (
	pairWindow = 6 * time.Second
	leastPairs = 3
	mostPairs  = 8
	// agreeWithin is the standard error of the mean speed, as a part of it, with which repeats
	// agree: 95 of 100 such means are then within a tenth.
	agreeWithin = 0.05
)

// twoApplications are next to each other; of a copy of one both are the same.
type twoApplications struct{ a, b string }

// pairTable is what is known of pairs.
type pairTable struct {
	repeats map[twoApplications]int
	rates   map[twoApplications][]float64 // of the first next to the second
}

func newPairTable(known []backgrounds.Pair) pairTable {
	t := pairTable{map[twoApplications]int{}, map[twoApplications][]float64{}}
	for _, p := range known {
		key := twoApplications{p.Application, p.CoRunner}
		t.repeats[key] = max(t.repeats[key], p.Repeat)
		t.rates[key] = append(t.rates[key], p.RatePerSec)
	}
	return t
}

// agreed reports whether the speeds of both are known well enough, or have been asked for often
// enough.
func (t pairTable) agreed(p twoApplications) bool {
	n := t.repeats[p]
	return n >= mostPairs || n >= leastPairs && agree(t.rates[p]) && agree(t.rates[twoApplications{p.b, p.a}])
}

// agree reports whether repeats agree. One without any work agrees with none.
func agree(rates []float64) bool {
	for _, r := range rates {
		if math.IsNaN(r) {
			return false
		}
	}
	mean, deviation := stat.MeanStdDev(rates, nil)
	return deviation/math.Sqrt(float64(len(rates))) < agreeWithin*mean
}

// left are the pairs that are measured next: of those that do not agree the ones that were measured
// least often, as after a round that was interrupted.
func (t pairTable) left(apps []catalogue.Application) (out [][2]int) {
	least := mostPairs
	for i := range apps {
		for j := i; j < len(apps); j++ {
			p := twoApplications{apps[i].ID, apps[j].ID}
			if t.agreed(p) || t.repeats[p] > least {
				continue
			}
			if t.repeats[p] < least {
				out, least = nil, t.repeats[p]
			}
			out = append(out, [2]int{i, j})
		}
	}
	return out
}

// colocatedPairs measures applications next to each other, and next to copies of themselves, in
// rounds, until repeats agree.
func (s settings) colocatedPairs(ctx context.Context, apps []catalogue.Application) (err error) {
	table, err := s.readPairs()
	if err != nil || len(table.left(apps)) == 0 {
		return err
	}
	b, err := openBench(ctx, s, apps, len(places))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	occupants, err := b.occupyAll(ctx, apps)
	defer func() { err = errors.Join(err, b.endAll(occupants)) }()
	if err != nil {
		return err
	}
	for round := uint64(1); ; round++ {
		left := table.left(apps)
		if len(left) == 0 {
			return nil
		}
		random := rand.New(rand.NewPCG(b.seed, round))
		random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		p := &progress{left: len(left), each: pairWindow, began: time.Now()}
		for _, two := range left {
			both := [2]catalogue.Application{apps[two[0]], apps[two[1]]}
			if err := b.pair(ctx, occupants, both, table.repeats[twoApplications{both[0].ID, both[1].ID}]+1); err != nil {
				return fmt.Errorf("%s next to %s: %w", both[0].ID, both[1].ID, err)
			}
			p.step(fmt.Sprintf("pairs, round %d", round))
		}
		if table, err = s.readPairs(); err != nil {
			return err
		}
	}
}

func (s settings) pairFile() string { return filepath.Join(s.tables(), backgrounds.PairsFile) }

func (s settings) readPairs() (pairTable, error) {
	known, err := readTable(s.pairFile(), backgrounds.ReadPairs)
	return newPairTable(known), err
}

// occupyAll starts every application in both places; those not measured are frozen.
func (b *bench) occupyAll(ctx context.Context, apps []catalogue.Application) (map[string]*occupant, error) {
	out := map[string]*occupant{}
	for _, a := range apps {
		for place := range places {
			slot := slotOf(a, place)
			o, err := b.occupy(ctx, a, slot)
			if err != nil {
				return out, fmt.Errorf("%s: %w", slot, err)
			}
			out[slot] = o
			if err := b.slots.freeze(ctx, slot); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

func (b *bench) endAll(occupants map[string]*occupant) error {
	problems := []error{b.disk.Free()}
	for _, o := range occupants {
		problems = append(problems, b.slots.thaw(o.slot), o.end())
	}
	return errors.Join(problems...)
}

// pair measures two at once. In every second repeat they change places.
func (b *bench) pair(ctx context.Context, occupants map[string]*occupant, both [2]catalogue.Application, repeat int) error {
	var watched []*occupant
	for i, a := range both {
		watched = append(watched, occupants[slotOf(a, (i+repeat+1)%len(places))])
	}
	if err := b.limited(watched[0].slot, watched[1].slot); err != nil { // of before
		return err
	}
	for _, o := range watched {
		if err := b.slots.thaw(o.slot); err != nil {
			return err
		}
	}
	seen, err := b.window(ctx, watched, pairWindow)
	if err != nil {
		return err
	}
	// What waits for the disk cannot be frozen.
	if err := b.disk.Free(); err != nil {
		return err
	}
	for _, o := range watched {
		if err := b.slots.freeze(ctx, o.slot); err != nil {
			return err
		}
	}
	var lines []string
	for i, other := range []int{1, 0} {
		lines = append(lines, backgrounds.Pair{
			Application: both[i].ID, CoRunner: both[other].ID, Repeat: repeat, Own: seen[i].characteristics, RatePerSec: seen[i].rate,
		}.Line())
	}
	return b.add(b.pairFile(), backgrounds.PairHeader(), lines...)
}

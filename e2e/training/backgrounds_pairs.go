package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// pairs measures applications next to each other, and next to copies of
// themselves. All are there at once; those not measured are frozen.
func (b *bench) pairs(ctx context.Context, apps []catalogue.Application) (err error) {
	path := filepath.Join(b.folder, backgrounds.PairsFile)
	known, err := readTable(path, backgrounds.ReadPairs)
	if err != nil {
		return err
	}
	type couple struct {
		a, b   string
		repeat int
	}
	measured := map[couple]bool{}
	for _, p := range known {
		measured[couple{p.Application, p.Beside, p.Repeat}] = true
	}
	var left [][3]int
	for repeat := 1; repeat <= backgroundRepeat; repeat++ {
		for i := range apps {
			for j := i; j < len(apps); j++ {
				if !measured[couple{apps[i].ID, apps[j].ID, repeat}] {
					left = append(left, [3]int{i, j, repeat})
				}
			}
		}
	}
	if len(left) == 0 {
		return nil
	}
	if err := b.set(ctx, backgrounds.Level{}); err != nil {
		return err
	}
	fmt.Printf("%d pairs\n", len(left))
	var occupants [2][]*occupant
	defer func() {
		for _, list := range occupants {
			for _, o := range list {
				err = errors.Join(err, b.slots.thaw(o.slot), o.end())
			}
		}
	}()
	for copies := range occupants {
		for _, a := range apps {
			o, err := b.occupy(ctx, a, fmt.Sprintf("%s-%d", a.ID, copies))
			if err != nil {
				return err
			}
			occupants[copies] = append(occupants[copies], o)
			if err := b.slots.freeze(ctx, o.slot); err != nil {
				return err
			}
		}
	}
	unix.Sync()
	if err := cluster.Sleep(ctx, backgroundDrain); err != nil {
		return err
	}
	for _, p := range left {
		both := []*occupant{occupants[0][p[0]], occupants[1][p[1]]}
		lines, err := b.pair(ctx, both, apps[p[0]].ID, apps[p[1]].ID, p[2])
		if err != nil {
			return err
		}
		if err := b.add(path, backgrounds.PairHeader(), lines...); err != nil {
			return err
		}
	}
	return nil
}

// pair measures two at once; two copies of one make one line.
func (b *bench) pair(ctx context.Context, both []*occupant, first, second string, repeat int) ([]string, error) {
	for _, o := range both {
		if err := b.slots.thaw(o.slot); err != nil {
			return nil, err
		}
	}
	if err := cluster.Sleep(ctx, 2*backgroundSettle); err != nil {
		return nil, err
	}
	seen, err := b.window(ctx, both)
	if err != nil {
		return nil, err
	}
	for _, o := range both {
		if err := b.slots.freeze(ctx, o.slot); err != nil {
			return nil, err
		}
	}
	lines := []string{backgrounds.Pair{Application: first, Beside: second, Repeat: repeat, Own: seen[0].characteristics, RatePerSec: seen[0].rate}.Line()}
	if first != second {
		lines = append(lines, backgrounds.Pair{Application: second, Beside: first, Repeat: repeat, Own: seen[1].characteristics, RatePerSec: seen[1].rate}.Line())
	}
	return lines, nil
}

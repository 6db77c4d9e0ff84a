package model

import (
	"cmp"
	"slices"
	"sort"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

const (
	// keptShare is the part of the I/Os whose sizes are kept; the others take the nearest
	// size of their direction and kind (chosen by us, so that a file stays small).
	keptShare = 0.995
	// maxCategories bounds them where sizes are of all kinds, as above a file system.
	maxCategories = 128
)

// class is a category without its size.
type class struct {
	op   storage.Op
	kind storage.Kind
}

// categorySet finds the category of an I/O.
type categorySet struct {
	list    []Category
	byClass map[class][]int // indices into list, by ascending size
	exact   map[Category]int
}

func newCategorySet(list []Category) *categorySet {
	s := &categorySet{list: list, byClass: map[class][]int{}, exact: map[Category]int{}}
	for i, c := range list {
		s.exact[c] = i
		k := class{c.Op, c.Kind}
		s.byClass[k] = append(s.byClass[k], i)
	}
	for _, of := range s.byClass {
		slices.SortFunc(of, func(a, b int) int { return cmp.Compare(list[a].Bytes, list[b].Bytes) })
	}
	return s
}

// of is the category of an I/O: that of its size, or of the nearest; false where there is
// none of its direction and kind.
func (s *categorySet) of(op storage.Op, kind storage.Kind, bytes int64) (int, bool) {
	if i, ok := s.exact[Category{Op: op, Kind: kind, Bytes: bytes}]; ok {
		return i, true
	}
	near := s.byClass[class{op, kind}]
	if len(near) == 0 {
		return 0, false
	}
	above := sort.Search(len(near), func(i int) bool { return s.list[near[i]].Bytes >= bytes })
	switch {
	case above == len(near):
		return near[above-1], true
	case above > 0 && bytes-s.list[near[above-1]].Bytes <= s.list[near[above]].Bytes-bytes:
		return near[above-1], true
	default:
		return near[above], true
	}
}

// chooseCategories keeps the sizes that carry keptShare of the I/Os, and at least one of
// every direction and kind there is; merged is the part of the I/Os that lose theirs.
func chooseCategories(sizes map[Category]int64) (list []Category, merged float64) {
	type counted struct {
		Category
		n int64
	}
	var all []counted
	total := int64(0)
	for c, n := range sizes {
		all = append(all, counted{c, n})
		total += n
	}
	slices.SortFunc(all, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.n, a.n), compareCategory(a.Category, b.Category))
	})
	kept := int64(0)
	seen := map[class]bool{}
	for _, c := range all {
		k := class{c.Op, c.Kind}
		enough := float64(kept) >= keptShare*float64(total) || len(list) >= maxCategories
		if enough && seen[k] {
			continue
		}
		seen[k] = true
		kept += c.n
		list = append(list, c.Category)
	}
	slices.SortFunc(list, compareCategory)
	return list, float64(total-kept) / float64(max(total, 1))
}

func compareCategory(a, b Category) int {
	return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Bytes, b.Bytes))
}

package lsh

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// Errors of an Index.
var (
	ErrConfig = errors.New("lsh: unusable configuration")
	ErrPoint  = errors.New("lsh: malformed point")
	ErrID     = errors.New("lsh: no such point, or it is there already")
)

// Config says what an index is to find, and with how many functions. Where
// Functions is 0 the smallest scheme of four functions is taken; see Choose.
type Config struct {
	Dimensions int
	Radius     float64
	Failure    float64 // accepted probability that a neighbour is missed; 0 is 0.05
	Metric     Metric
	Width      float64 // w; 0 is 4
	Functions  int     // k of each table; even with Reuse
	Tables     int     // L, or m with Reuse; 0: as many as Failure asks for
	Reuse      bool    // tables are pairs of m halves
	Seed       uint64
}

// The defaults of Config.
const (
	defaultFailure   = 0.05
	defaultWidth     = 4
	defaultFunctions = 4
)

// withDefaults completes the configuration, or says what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	if c.Failure == 0 {
		c.Failure = defaultFailure
	}
	if c.Width == 0 {
		c.Width = defaultWidth
	}
	if c.Functions == 0 {
		c.Functions = defaultFunctions
	}
	switch {
	case c.Dimensions < 1 || !(c.Radius > 0) || math.IsInf(c.Radius, 1):
		return c, fmt.Errorf("%w: %d dimensions, radius %v", ErrConfig, c.Dimensions, c.Radius)
	case !(c.Failure > 0 && c.Failure < 1) || !(c.Width > 0) || math.IsInf(c.Width, 1):
		return c, fmt.Errorf("%w: failure %v, width %v", ErrConfig, c.Failure, c.Width)
	case c.Metric != Euclidean && c.Metric != Manhattan:
		return c, fmt.Errorf("%w: metric %d", ErrConfig, c.Metric)
	case c.Functions < 1 || c.Tables < 0 || c.Reuse && (c.Functions%2 != 0 || c.Tables == 1):
		return c, fmt.Errorf("%w: %d functions, %d tables, reuse %v", ErrConfig, c.Functions, c.Tables, c.Reuse)
	}
	if c.Tables == 0 {
		if c.Reuse {
			c.Tables = Halves(c.Metric, c.Width, c.Functions, c.Failure)
		} else {
			c.Tables = Tables(c.Metric, c.Width, c.Functions, c.Failure)
		}
	}
	return c, nil
}

// Buckets is how many tables there are to look into.
func (c Config) Buckets() int {
	if c.Reuse {
		return c.Tables * (c.Tables - 1) / 2
	}
	return c.Tables
}

// keys is how many groups of functions are evaluated for a point, and functions
// how many are in each.
func (c Config) keys() (groups, functions int) {
	if c.Reuse {
		return c.Tables, c.Functions / 2
	}
	return c.Tables, c.Functions
}

// Index holds points by number. Queries may run at once; Insert and Delete may
// not, besides anything.
type Index struct {
	config   Config
	slopes   []float64 // function-major: a / (R·w)
	offsets  []float64 // by function: b / w
	tables   []map[uint64][]int32
	points   []float64 // by number
	there    []bool
	count    int
	scratch  sync.Pool
	keySpace []uint64 // of Insert and Delete
}

// New returns an empty index.
func New(c Config) (*Index, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	x := &Index{config: c, tables: make([]map[uint64][]int32, c.Buckets())}
	for i := range x.tables {
		x.tables[i] = map[uint64][]int32{}
	}
	random := rand.New(rand.NewPCG(c.Seed, uint64(c.Dimensions)))
	groups, functions := c.keys()
	for range groups * functions {
		for range c.Dimensions {
			x.slopes = append(x.slopes, c.Metric.stable(random)/(c.Radius*c.Width))
		}
		x.offsets = append(x.offsets, random.Float64())
	}
	x.scratch.New = func() any { return &scratch{} }
	x.keySpace = make([]uint64, groups)
	return x, nil
}

// scratch is what a query works with.
type scratch struct {
	keys []uint64
	seen []uint32 // by number: the last query that saw it
	now  uint32
}

// Config is the configuration with its defaults filled in.
func (x *Index) Config() Config { return x.config }

// Len is the number of points.
func (x *Index) Len() int { return x.count }

// Has reports whether a point of that number is there.
func (x *Index) Has(id int) bool { return id >= 0 && id < len(x.there) && x.there[id] }

// Point is the point of that number; nil where there is none. It is the index's
// own.
func (x *Index) Point(id int) []float64 {
	if !x.Has(id) {
		return nil
	}
	return x.at(id)
}

func (x *Index) at(id int) []float64 {
	d := x.config.Dimensions
	return x.points[id*d : (id+1)*d : (id+1)*d]
}

func (x *Index) check(point []float64) error {
	if len(point) != x.config.Dimensions {
		return fmt.Errorf("%w: %d coordinates, %d are needed", ErrPoint, len(point), x.config.Dimensions)
	}
	for j, v := range point {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: coordinate %d is %v", ErrPoint, j, v)
		}
	}
	return nil
}

// Insert adds a point under a number that is not in use. Numbers should be small:
// storage grows with the largest.
func (x *Index) Insert(id int, point []float64) error {
	if err := x.check(point); err != nil {
		return err
	}
	if id < 0 || id > math.MaxInt32 || x.Has(id) {
		return fmt.Errorf("%w: %d cannot be inserted", ErrID, id)
	}
	if grow := id + 1 - len(x.there); grow > 0 {
		x.there = append(x.there, make([]bool, grow)...)
		x.points = append(x.points, make([]float64, grow*x.config.Dimensions)...)
	}
	copy(x.at(id), point)
	x.there[id] = true
	x.count++
	x.hash(point, x.keySpace)
	x.eachTable(x.keySpace, func(table int, key uint64) {
		x.tables[table][key] = append(x.tables[table][key], int32(id))
	})
	return nil
}

// Delete takes a point away.
func (x *Index) Delete(id int) error {
	if !x.Has(id) {
		return fmt.Errorf("%w: %d cannot be deleted", ErrID, id)
	}
	x.hash(x.at(id), x.keySpace)
	x.eachTable(x.keySpace, func(table int, key uint64) {
		bucket := x.tables[table][key]
		at := slices.Index(bucket, int32(id))
		bucket[at] = bucket[len(bucket)-1]
		if bucket = bucket[:len(bucket)-1]; len(bucket) == 0 {
			delete(x.tables[table], key)
		} else {
			x.tables[table][key] = bucket
		}
	})
	x.there[id] = false
	x.count--
	return nil
}

// hash fills keys with one number per group of functions.
func (x *Index) hash(point []float64, keys []uint64) {
	_, functions := x.config.keys()
	var sums [lanes]float64
	for f := range len(keys) * functions {
		if f%lanes == 0 {
			x.project(f, point, &sums)
		}
		g := f / functions
		if f%functions == 0 {
			keys[g] = uint64(g)
		}
		keys[g] = mix(keys[g] ^ uint64(int64(math.Floor(sums[f%lanes]))))
	}
}

// lanes is how many functions are evaluated at once: one sum waits for each of its additions,
// four do not wait for each other.
const lanes = 4

// project evaluates the functions from f on, each in the order of coordinates.
func (x *Index) project(f int, point []float64, sums *[lanes]float64) {
	d := len(point)
	if f+lanes > len(x.offsets) {
		for i, offset := range x.offsets[f:] {
			sums[i] = offset
			for j, slope := range x.slopes[(f+i)*d:][:d] {
				sums[i] += slope * point[j]
			}
		}
		return
	}
	s0, s1, s2, s3 := x.offsets[f], x.offsets[f+1], x.offsets[f+2], x.offsets[f+3]
	a0, a1, a2, a3 := x.slopes[f*d:][:d], x.slopes[(f+1)*d:][:d], x.slopes[(f+2)*d:][:d], x.slopes[(f+3)*d:][:d]
	for j, v := range point {
		s0 += a0[j] * v
		s1 += a1[j] * v
		s2 += a2[j] * v
		s3 += a3[j] * v
	}
	*sums = [lanes]float64{s0, s1, s2, s3}
}

// mix is a bijection that spreads bits (the finaliser of SplitMix64). Different
// hashes that fall on one key cost time only: distances decide.
func mix(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// eachTable calls visit with the key of every table.
func (x *Index) eachTable(keys []uint64, visit func(table int, key uint64)) {
	if !x.config.Reuse {
		for i, key := range keys {
			visit(i, key)
		}
		return
	}
	table := 0
	for i := range keys {
		for j := i + 1; j < len(keys); j++ {
			visit(table, mix(keys[i]^mix(keys[j])))
			table++
		}
	}
}

// Hit is a point of an answer.
type Hit struct {
	ID       int
	Distance float64
}

// Compare is the order of answers: nearest first, then by number.
func Compare(a, b Hit) int {
	return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
}

// Work is what a query cost.
type Work struct {
	Collected int // entries of buckets, with repetitions
	Examined  int // distinct points
}

// Near returns the points within the radius that the index finds, nearest first,
// at most so many; 0 is all. out is reused.
func (x *Index) Near(query []float64, most int, out []Hit) ([]Hit, Work, error) {
	out = out[:0]
	w, err := x.Each(query, nil, func(h Hit) { out = keep(out, h, most) })
	slices.SortFunc(out, Compare)
	return out, w, err
}

// Each calls visit with the points within the radius that the index finds, in no
// order. Where wanted is not nil it is asked first: of points that are not, no distance is
// taken.
func (x *Index) Each(query []float64, wanted func(id int) bool, visit func(h Hit)) (Work, error) {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	var err error
	if s.keys, err = x.Keys(query, s.keys[:0]); err != nil {
		return Work{}, err
	}
	return x.each(s, s.keys, query, wanted, visit), nil
}

// Keys appends the keys of a point, by which it is found: one per group of functions.
func (x *Index) Keys(point []float64, out []uint64) ([]uint64, error) {
	if err := x.check(point); err != nil {
		return out, err
	}
	groups := len(x.keySpace)
	out = slices.Grow(out, groups)[:len(out)+groups]
	x.hash(point, out[len(out)-groups:])
	return out, nil
}

// Share reports whether points of these keys are in one bucket of any table, so that a query at
// one examines the other.
func (x *Index) Share(a, b []uint64) bool {
	enough := 1
	if x.config.Reuse { // a table is two groups
		enough = 2
	}
	equal := 0
	for g, key := range a {
		if key == b[g] {
			if equal++; equal == enough {
				return true
			}
		}
	}
	return false
}

// EachOf is Each for a query of which the keys are known.
func (x *Index) EachOf(keys []uint64, query []float64, wanted func(id int) bool, visit func(h Hit)) Work {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	return x.each(s, keys, query, wanted, visit)
}

func (x *Index) each(s *scratch, keys []uint64, query []float64, wanted func(id int) bool, visit func(h Hit)) Work {
	var w Work
	s.begin(len(x.there))
	x.eachTable(keys, func(table int, key uint64) {
		bucket := x.tables[table][key]
		w.Collected += len(bucket)
		for _, id := range bucket {
			if s.seen[id] == s.now {
				continue
			}
			s.seen[id] = s.now
			w.Examined++
			if wanted != nil && !wanted(int(id)) {
				continue
			}
			if d := x.config.Metric.distance(query, x.at(int(id))); d <= x.config.Radius {
				visit(Hit{int(id), d})
			}
		}
	})
	return w
}

func (s *scratch) begin(points int) {
	if len(s.seen) < points {
		s.seen, s.now = make([]uint32, points), 0
	}
	if s.now == math.MaxUint32 {
		clear(s.seen)
		s.now = 0
	}
	s.now++
}

// keep adds a hit to the best most ones, of which the worst is first once
// there are that many.
func keep(out []Hit, h Hit, most int) []Hit {
	if most <= 0 || len(out) < most {
		out = append(out, h)
		if len(out) == most {
			worstFirst(out)
		}
		return out
	}
	if Compare(h, out[0]) < 0 {
		out[0] = h
		worstFirst(out)
	}
	return out
}

func worstFirst(out []Hit) {
	worst := 0
	for i := range out {
		if Compare(out[i], out[worst]) > 0 {
			worst = i
		}
	}
	out[0], out[worst] = out[worst], out[0]
}

// Scan is the exact answer to Near: it looks at every point.
func (x *Index) Scan(query []float64, most int, out []Hit) ([]Hit, error) {
	return x.scan(query, x.config.Radius, most, out)
}

// Nearest returns the so many points nearest to the query, however far.
func (x *Index) Nearest(query []float64, most int, out []Hit) ([]Hit, error) {
	return x.scan(query, math.Inf(1), most, out)
}

func (x *Index) scan(query []float64, radius float64, most int, out []Hit) ([]Hit, error) {
	out = out[:0]
	if err := x.check(query); err != nil {
		return out, err
	}
	for id, there := range x.there {
		if !there {
			continue
		}
		if d := x.config.Metric.distance(query, x.at(id)); d <= radius {
			out = keep(out, Hit{id, d}, most)
		}
	}
	slices.SortFunc(out, Compare)
	return out, nil
}

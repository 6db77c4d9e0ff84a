package classify

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/nomad-placer/nomad-placer/placer/numeric/kmeans"
	"github.com/nomad-placer/nomad-placer/placer/numeric/lsh"
)

var lshDescriptor = Descriptor{
	Name:    "lsh",
	Summary: "the median of the five nearest training rows among those a locality-sensitive hash finds near in the known cells",
	Paper:   "Islam, Gibson and Muzahid, Fast and QoS-Aware Heterogeneous Data Center Scheduling Using Locality Sensitive Hashing, Algorithms 1 and 2",
	New:     func() Classifier { return NewLSH(LSHOptions{}) },
}

// LSHOptions are the parameters of the paper; zero fields take its defaults.
type LSHOptions struct {
	Rows       int     // n, training rows; 150; all of them where negative
	Clusters   int     // k, groups they are drawn from; 10
	Neighbours int     // c, the most that a median is of; 5
	Radius     float64 // per known cell, as a share of the matrix's range; 0.1: R is that times the known cells
	Failure    float64 // accepted probability that a near row is missed; 0.05
	Metric     lsh.Metric
	Strict     bool // where no row is near: drawn at random, not taken from the nearest
}

func (o LSHOptions) withDefaults() LSHOptions {
	if o.Rows == 0 {
		o.Rows = 150
	}
	if o.Clusters <= 0 {
		o.Clusters = 10
	}
	if o.Neighbours <= 0 {
		o.Neighbours = 5
	}
	if !(o.Radius > 0) {
		o.Radius = 0.1
	}
	return o
}

// NewLSH is the classifier with other parameters than the paper's.
func NewLSH(o LSHOptions) Classifier { return inLogs{onlyCertain{hashing{o.withDefaults()}}} }

type hashing struct{ options LSHOptions }

func (h hashing) Fit(m Matrix, seed uint64) (Model, error) {
	known, err := trainingMatrix(m)
	if err != nil {
		return nil, err
	}
	model, err := newHashed(known.Rows, len(m.Columns), h.options, seed)
	if err != nil {
		return nil, err
	}
	model.width, err = calibrate(known, seed, false, func(train Matrix) (filler, error) {
		return newHashed(train.Rows, len(m.Columns), h.options, seed)
	})
	return model, err
}

// hashed keeps the chosen training rows and an index of them for each set of known
// columns that was asked for. It is safe for concurrent use.
type hashed struct {
	*nearest // the rows, and what to do where none knows all that is known
	options  LSHOptions
	seed     uint64
	low      float64 // the range of the matrix
	high     float64

	mutex   sync.Mutex
	indexes map[string]*projection
	asked   []string // keys of indexes, oldest first
}

// projection is the training rows that know some columns, on those columns.
type projection struct {
	index *lsh.Index
	rows  []int // by number in the index
}

// maxIndexes bounds memory: sets of known columns are few where sources are chosen
// by rule, and many where they are drawn.
const maxIndexes = 64

// manyRows is from where on the scheme of an index is chosen by its cost; below,
// four functions and six tables are as good as any (chosen by us).
const manyRows = 1000

func newHashed(rows [][]float64, columns int, o LSHOptions, seed uint64) (*hashed, error) {
	chosen, err := chooseRows(rows, columns, o, seed)
	if err != nil {
		return nil, err
	}
	h := &hashed{nearest: newNearest(chosen, columns, o.Neighbours), options: o, seed: seed, indexes: map[string]*projection{}}
	h.low, h.high = math.Inf(1), math.Inf(-1)
	for _, row := range rows {
		for _, v := range row {
			if !math.IsNaN(v) {
				h.low, h.high = min(h.low, v), max(h.high, v)
			}
		}
	}
	return h, nil
}

// chooseRows takes the training set (Algorithm 1, lines 1 and 2): as many rows of
// each group as of the others. Holes are filled with column means for grouping.
func chooseRows(rows [][]float64, columns int, o LSHOptions, seed uint64) ([][]float64, error) {
	if o.Rows < 0 || len(rows) <= o.Rows {
		return rows, nil
	}
	mean := newNearest(rows, columns, 1).mean
	filled := make([][]float64, len(rows))
	for i, row := range rows {
		filled[i] = make([]float64, columns)
		for j, v := range row {
			switch {
			case !math.IsNaN(v):
				filled[i][j] = v
			case !math.IsNaN(mean[j]):
				filled[i][j] = mean[j]
			}
		}
	}
	groups, err := kmeans.Fit(filled, kmeans.Config{Clusters: o.Clusters, Restarts: 1, Seed: seed})
	if err != nil {
		return nil, fmt.Errorf("grouping the training rows: %w", err)
	}
	var out [][]float64
	for _, i := range groups.Draw(o.Rows, rand.New(rand.NewPCG(seed, uint64(len(rows))))) {
		out = append(out, rows[i])
	}
	return out, nil
}

// scale brings a cell to the unit of the radius: the range of the matrix is 1.
func (h *hashed) scale(v float64) float64 {
	if h.high <= h.low {
		return 0
	}
	return (v - h.low) / (h.high - h.low)
}

// projected returns the index for a set of known columns.
func (h *hashed) projected(at []int) (*projection, error) {
	var key []byte
	for _, j := range at {
		key = binary.AppendUvarint(key, uint64(j))
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if p := h.indexes[string(key)]; p != nil {
		return p, nil
	}
	p, err := h.project(at)
	if err != nil {
		return nil, err
	}
	if len(h.asked) == maxIndexes {
		delete(h.indexes, h.asked[0])
		h.asked = h.asked[1:]
	}
	h.indexes[string(key)], h.asked = p, append(h.asked, string(key))
	return p, nil
}

func (h *hashed) project(at []int) (*projection, error) {
	p := &projection{}
	var points [][]float64
	for i, row := range h.rows {
		if point := h.point(row, at); point != nil {
			points, p.rows = append(points, point), append(p.rows, i)
		}
	}
	c := lsh.Config{
		Dimensions: len(at), Radius: h.options.Radius * float64(len(at)), Failure: h.options.Failure, Metric: h.options.Metric, Seed: h.seed,
	}
	if len(points) >= manyRows {
		chosen, err := lsh.Choose(c, points, len(points), lsh.DefaultCosts)
		if err != nil {
			return nil, err
		}
		c = chosen.Config
	}
	var err error
	if p.index, err = lsh.New(c); err != nil {
		return nil, err
	}
	for i, point := range points {
		if err := p.index.Insert(i, point); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// point is a row on some columns; nil where it does not know them all.
func (h *hashed) point(row []float64, at []int) []float64 {
	out := make([]float64, len(at))
	for i, j := range at {
		if math.IsNaN(row[j]) {
			return nil
		}
		out[i] = h.scale(row[j])
	}
	return out
}

// doubt is why a completed row deserves less confidence; "" where it does not.
const (
	doubtNearest = "no similar workload is known: taken from the nearest ones"
	doubtPartly  = "no workload is known in all that was measured: taken from those known in part of it"
	doubtRandom  = "no similar workload is known: drawn at random"
)

// complete implements filler.
func (h *hashed) complete(row, _, out, deviation []float64) error {
	_, err := h.predict(row, out, deviation)
	return err
}

// predict is Algorithm 2, lines 2 to 5.
func (h *hashed) predict(row, out, deviation []float64) (doubt string, err error) {
	at, _, err := observed(row, nil, len(h.mean))
	if err != nil {
		return "", err
	}
	for j := range deviation {
		deviation[j] = 1
	}
	if len(at) == 0 {
		copy(out, h.mean)
		return "", nil
	}
	p, err := h.projected(at)
	if err != nil {
		return "", err
	}
	if p.index.Len() == 0 {
		return doubtPartly, h.nearest.complete(row, nil, out, deviation)
	}
	query := h.point(row, at)
	hits, _, err := p.index.Near(query, h.options.Neighbours, nil)
	if err != nil {
		return "", err
	}
	if len(hits) == 0 {
		if h.options.Strict {
			h.draw(row, out)
			return doubtRandom, nil
		}
		doubt = doubtNearest
		if hits, err = p.index.Nearest(query, h.options.Neighbours, nil); err != nil {
			return "", err
		}
	}
	h.medians(p, hits, out)
	return doubt, nil
}

// medians of what the neighbours know of each column; its mean where none does.
func (h *hashed) medians(p *projection, hits []lsh.Hit, out []float64) {
	var values []float64
	for j := range out {
		values = values[:0]
		for _, hit := range hits {
			if v := h.rows[p.rows[hit.ID]][j]; !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		out[j] = h.mean[j]
		if n := len(values); n > 0 {
			slices.Sort(values)
			out[j] = (values[(n-1)/2] + values[n/2]) / 2
		}
	}
}

// draw every column uniformly from the range of the matrix; the same row and seed
// draw the same.
func (h *hashed) draw(row, out []float64) {
	sum := fnv.New64a()
	for _, v := range row {
		_, _ = sum.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))) // never fails
	}
	random := rand.New(rand.NewPCG(h.seed, sum.Sum64()))
	for j := range out {
		out[j] = h.low + random.Float64()*(h.high-h.low)
	}
}

// Complete implements Model. Cells that deserve less confidence say so.
func (h *hashed) Complete(row, _ []float64) ([]Cell, error) {
	if _, _, err := observed(row, nil, len(h.mean)); err != nil {
		return nil, err
	}
	f := doubting{hashed: h}
	out, err := completeWith(&f, row, nil, h.width)
	if err != nil {
		return nil, err
	}
	for j := range out {
		if !out[j].Measured && out[j].Known {
			out[j].Doubt = f.doubt
		}
	}
	return out, nil
}

// doubting keeps why the row that it completed deserves less confidence.
type doubting struct {
	*hashed
	doubt string
}

func (d *doubting) complete(row, _, out, deviation []float64) error {
	var err error
	d.doubt, err = d.predict(row, out, deviation)
	return err
}

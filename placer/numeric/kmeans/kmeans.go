package kmeans

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Errors of Fit.
var (
	ErrNoPoints = errors.New("kmeans: no points")
	ErrShape    = errors.New("kmeans: points must be finite and equally long, clusters at least 1")
)

// Config says how groups are looked for. Zero fields take the defaults.
type Config struct {
	Clusters   int    // required
	Restarts   int    // starts of which the best is kept; 5
	Iterations int    // most of one start; 100
	Seed       uint64 // of the starts
}

const (
	defaultRestarts   = 5
	defaultIterations = 100
)

// Clustering is the result of Fit.
type Clustering struct {
	Centres    [][]float64
	Assigned   []int   // per point, which centre
	Inertia    float64 // sum of squared distances to the centres
	Iterations int     // of the start that was kept
}

// Fit groups points. Equal points, configuration and seed give equal results. It
// costs O(restarts·iterations·points·clusters·dimensions).
func Fit(points [][]float64, c Config) (Clustering, error) {
	if err := check(points, c); err != nil {
		return Clustering{}, err
	}
	if c.Restarts == 0 {
		c.Restarts = defaultRestarts
	}
	if c.Iterations == 0 {
		c.Iterations = defaultIterations
	}
	rng := rand.New(rand.NewPCG(c.Seed, uint64(len(points))))
	best := Clustering{Inertia: math.Inf(1)}
	for range c.Restarts {
		if found := descend(points, start(points, c.Clusters, rng), c.Iterations); found.Inertia < best.Inertia {
			best = found
		}
	}
	return best, nil
}

func check(points [][]float64, c Config) error {
	if len(points) == 0 {
		return ErrNoPoints
	}
	if c.Clusters < 1 || c.Restarts < 0 || c.Iterations < 0 {
		return fmt.Errorf("%w: %d clusters, %d restarts, %d iterations", ErrShape, c.Clusters, c.Restarts, c.Iterations)
	}
	for i, p := range points {
		if len(p) != len(points[0]) {
			return fmt.Errorf("%w: point %d has %d coordinates, the first %d", ErrShape, i, len(p), len(points[0]))
		}
		for _, v := range p {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%w: point %d holds %v", ErrShape, i, v)
			}
		}
	}
	return nil
}

// start chooses centres by k-means++: fewer than asked for where there are fewer
// distinct points.
func start(points [][]float64, clusters int, rng *rand.Rand) [][]float64 {
	centres := [][]float64{clone(points[rng.IntN(len(points))])}
	away := make([]float64, len(points)) // squared, to the nearest centre
	for i, p := range points {
		away[i] = squared(p, centres[0])
	}
	for len(centres) < clusters {
		next := proportional(away, rng)
		if next < 0 {
			break
		}
		centre := clone(points[next])
		centres = append(centres, centre)
		for i, p := range points {
			away[i] = min(away[i], squared(p, centre))
		}
	}
	return centres
}

// proportional draws an index with its weight; -1 where all are 0.
func proportional(weights []float64, rng *rand.Rand) int {
	var total float64
	for _, w := range weights {
		total += w
	}
	left, last := rng.Float64()*total, -1
	for i, w := range weights {
		if w == 0 {
			continue
		}
		last = i
		if left -= w; left < 0 {
			break
		}
	}
	return last
}

// descend is Lloyd's iteration.
func descend(points, centres [][]float64, iterations int) Clustering {
	c := Clustering{Centres: centres, Assigned: make([]int, len(points))}
	for i := range c.Assigned {
		c.Assigned[i] = -1
	}
	away := make([]float64, len(points))
	for c.Iterations < iterations {
		c.Iterations++
		changed := c.assign(points, away)
		if c.refill(points, away) {
			changed = true
		}
		if !changed {
			break
		}
		c.centre(points)
	}
	c.assign(points, away)
	c.Inertia = 0
	for _, a := range away {
		c.Inertia += a
	}
	return c
}

// assign gives every point its nearest centre and reports whether any changed.
func (c *Clustering) assign(points [][]float64, away []float64) (changed bool) {
	for i, p := range points {
		k, distance := c.Nearest(p)
		away[i] = distance
		if c.Assigned[i] != k {
			c.Assigned[i], changed = k, true
		}
	}
	return changed
}

// refill gives a group without points the point farthest from its centre.
func (c *Clustering) refill(points [][]float64, away []float64) (changed bool) {
	sizes := c.Sizes()
	for k, size := range sizes {
		if size > 0 {
			continue
		}
		far := -1
		for i, a := range away {
			if a > 0 && sizes[c.Assigned[i]] > 1 && (far < 0 || a > away[far]) {
				far = i
			}
		}
		if far < 0 {
			return changed
		}
		sizes[c.Assigned[far]]--
		sizes[k]++
		c.Assigned[far], away[far], changed = k, 0, true
		copy(c.Centres[k], points[far])
	}
	return changed
}

// centre moves every centre to the mean of its points.
func (c *Clustering) centre(points [][]float64) {
	sizes := c.Sizes()
	for k, size := range sizes {
		if size > 0 {
			clear(c.Centres[k])
		}
	}
	for i, p := range points {
		k := c.Assigned[i]
		for j, v := range p {
			c.Centres[k][j] += v / float64(sizes[k])
		}
	}
}

// Sizes is how many points each group has.
func (c *Clustering) Sizes() []int {
	sizes := make([]int, len(c.Centres))
	for _, k := range c.Assigned {
		sizes[k]++
	}
	return sizes
}

// Nearest returns the centre nearest to a point, the first of equals, and the
// squared distance to it.
func (c *Clustering) Nearest(point []float64) (centre int, squaredDistance float64) {
	squaredDistance = math.Inf(1)
	for k, at := range c.Centres {
		if d := squared(point, at); d < squaredDistance {
			centre, squaredDistance = k, d
		}
	}
	return centre, squaredDistance
}

func squared(a, b []float64) float64 {
	var sum float64
	for j, v := range a {
		sum += (v - b[j]) * (v - b[j])
	}
	return sum
}

func clone(p []float64) []float64 { return append([]float64(nil), p...) }

package consolidate_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/consolidate"
)

// random is a scene with two types of nodes, three applications and several instances.
func random(seed uint64, instances, nodes int) (*consolidate.Scene, []consolidate.Demand) {
	rng := rand.New(rand.NewPCG(seed, 0))
	s := &consolidate.Scene{Types: []consolidate.NodeType{
		{Name: "small", BandwidthBytesPerSec: 300e6, CapacityBytes: 400e9, Power: consolidate.AssumedPower(150, 4)},
		{Name: "large", BandwidthBytesPerSec: 900e6, CapacityBytes: 1500e9, Power: consolidate.AssumedPower(350, 12)},
	}}
	for range nodes {
		s.Nodes = append(s.Nodes, rng.IntN(2))
	}
	part := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	for range 3 {
		s.Applications = append(s.Applications, consolidate.Application{MostBandwidth: []float64{part(0.3, 0.7), part(0.3, 0.8)}, MostCapacity: []float64{part(0.7, 1), part(0.7, 1)}})
	}
	for range s.Types {
		var loss [][]float64
		for range s.Applications {
			loss = append(loss, []float64{part(0, 0.08), part(0, 0.08), part(0, 0.08)})
		}
		s.Loss = append(s.Loss, loss)
	}
	var d []consolidate.Demand
	for i := range instances {
		s.Instances = append(s.Instances, consolidate.Instance{Application: rng.IntN(3)})
		chunks := 1 + rng.IntN(3)
		for range chunks {
			s.Objects = append(s.Objects, consolidate.Object{Instance: i, Share: 1 / float64(chunks)})
			d = append(d, consolidate.Demand{BandwidthBytesPerSec: part(1e6, 60e6), Bytes: part(5e9, 80e9)})
		}
	}
	return s, d
}

// check says what of a placement breaks a rule. A node with one object may be over.
func check(t *testing.T, s *consolidate.Scene, p consolidate.Placement, d []consolidate.Demand, r consolidate.Rules) {
	t.Helper()
	for _, b := range s.Bins(p, d) {
		if len(b.Objects) < 2 {
			continue
		}
		most, full := b.Most()
		if b.Bandwidth > most || b.Bytes > full || b.WorstLoss() >= r.MostLoss {
			t.Errorf("node %d has %g of %g bytes/s, %g of %g bytes, and loses %g", b.Node, b.Bandwidth, most, b.Bytes, full, b.WorstLoss())
		}
	}
}

// On many scenes: what is placed keeps all limits, every object is somewhere or said to be
// nowhere, an update keeps the limits of the new demand, and the bound is below both.
func TestPlacementsKeepLimits(t *testing.T) {
	t.Parallel()
	r, whole, moved := consolidate.PaperRules(), 0, 0
	for seed := range uint64(60) {
		s, d := random(seed, 12, 12)
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		p, unplaced := s.Pack(d, nil, r)
		check(t, s, p, d, r)
		for o, n := range p {
			if (n == consolidate.Nowhere) != slices.Contains(unplaced, o) {
				t.Errorf("seed %d: object %d is on node %d", seed, o, n)
			}
		}
		if len(unplaced) > 0 {
			continue
		}
		whole++
		bound, err := s.LowerBound(d)
		if err != nil {
			t.Fatal(err)
		}
		if watts := watts(s, p, d); bound > watts+1e-6 {
			t.Errorf("seed %d: a placement takes %g W, and the bound is %g", seed, watts, bound)
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		for i := range d {
			d[i].BandwidthBytesPerSec *= 0.5 + rng.Float64()
		}
		plan := s.Update(p, d, r)
		if len(plan.Unplaced) == 0 {
			check(t, s, plan.Next, d, r)
		}
		moved += len(plan.Moves)
	}
	if whole < 20 || moved == 0 {
		t.Errorf("%d scenes were placed whole, and %d objects moved", whole, moved)
	}
}

func watts(s *consolidate.Scene, p consolidate.Placement, d []consolidate.Demand) float64 {
	sum := 0.0
	for n, b := range s.Bins(p, d) {
		if len(b.Objects) > 0 {
			t := s.Types[s.Nodes[n]]
			sum += t.Power.Watts(b.Bandwidth / t.BandwidthBytesPerSec)
		}
	}
	return sum
}

// Against every placement of few objects: the bound is never above the best one.
func TestBoundAgainstEnumeration(t *testing.T) {
	t.Parallel()
	near := 0
	for seed := range uint64(30) {
		s, d := random(seed, 3, 3)
		if len(s.Objects) > 6 {
			continue
		}
		best := math.Inf(1)
		p := make(consolidate.Placement, len(s.Objects))
		for {
			if allowed(s, p, d) {
				best = min(best, watts(s, p, d))
			}
			if !following(p, len(s.Nodes)) {
				break
			}
		}
		bound, err := s.LowerBound(d)
		if err != nil {
			t.Fatal(err)
		}
		if bound > best+1e-6 {
			t.Errorf("seed %d: %g W are enough, and the bound is %g", seed, best, bound)
		}
		if bound > 0.8*best {
			near++
		}
	}
	if near == 0 {
		t.Error("the bound is far below every best placement: it says nothing")
	}
}

func allowed(s *consolidate.Scene, p consolidate.Placement, d []consolidate.Demand) bool {
	for _, b := range s.Bins(p, d) {
		most, full := b.Most()
		if len(b.Objects) > 1 && (b.Bandwidth > most || b.Bytes > full || b.WorstLoss() >= 0.1) {
			return false
		}
	}
	return true
}

// following counts a placement up, as digits.
func following(p consolidate.Placement, nodes int) bool {
	for i := range p {
		if p[i]++; p[i] < nodes {
			return true
		}
		p[i] = 0
	}
	return false
}

// A demand beyond all nodes has no bound.
func TestBoundOfTooMuch(t *testing.T) {
	t.Parallel()
	s := scene(1, webmail, webmail, webmail)
	if _, err := s.LowerBound(demand([2]float64{1, 800}, [2]float64{1, 800}, [2]float64{1, 800})); !errors.Is(err, consolidate.ErrScene) {
		t.Errorf("%v", err)
	}
}

func TestBadScenes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*consolidate.Scene){
		"no bandwidth": func(s *consolidate.Scene) { s.Types[0].BandwidthBytesPerSec = 0 },
		"no losses":    func(s *consolidate.Scene) { s.Loss = nil },
		"few losses":   func(s *consolidate.Scene) { s.Loss[0] = s.Loss[0][:1] },
		"short row":    func(s *consolidate.Scene) { s.Loss[0][1] = s.Loss[0][1][:1] },
		"loss":         func(s *consolidate.Scene) { s.Loss[0][0][1] = 2 },
		"no number":    func(s *consolidate.Scene) { s.Loss[0][0][1] = math.NaN() },
		"type":         func(s *consolidate.Scene) { s.Nodes[0] = 1 },
		"limits":       func(s *consolidate.Scene) { s.Applications[0].MostCapacity = nil },
		"application":  func(s *consolidate.Scene) { s.Instances[0].Application = 9 },
		"instance":     func(s *consolidate.Scene) { s.Objects[0].Instance = 9 },
		"share":        func(s *consolidate.Scene) { s.Objects[0].Share = 0 },
	} {
		s := scene(2, webmail, websearch)
		change(s)
		if err := s.Check(); !errors.Is(err, consolidate.ErrScene) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkUpdate is a decision for the cluster of the text: 40 nodes, 40 instances, chunks.
func BenchmarkUpdate(b *testing.B) {
	s, d := random(1, 40, 40)
	r := consolidate.PaperRules()
	p, _ := s.Pack(d, nil, r)
	b.ReportAllocs()
	for b.Loop() {
		s.Update(p, d, r)
	}
}

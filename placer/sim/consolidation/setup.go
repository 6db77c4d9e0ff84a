package consolidation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/consolidate"
)

// The cluster of the text (§B.7): 40 nodes of three types, and as many instances of ten
// applications.
const (
	applications = 10
	instances    = 40
)

// diskBytesPerSec is the bandwidth of a disk of 10,000 turns a minute, and mostWatts what a
// node takes beside its disks (chosen by us: the text has neither).
const diskBytesPerSec = 100e6

// nodeKinds are the text's types of nodes.
var nodeKinds = []struct {
	name          string
	nodes, disks  int
	capacityBytes float64
	mostWatts     float64
}{
	{"12 cores, 4 disks", 18, 4, 1.2e12, 250},
	{"24 cores, 4 disks", 10, 4, 1.2e12, 400},
	{"8 cores, 12 disks", 12, 12, 5.4e12, 200},
}

const (
	leastBytes, mostBytes = 50e9, 450e9 // of an instance (§B.7)
	// chunkBytes is the size of an object of the schemes that divide instances: between the
	// 782 and 1963 MB of the text.
	chunkBytes = 1.5e9
	// MB_i of a random and of a sequential workload: the text's two points (§B.4.1).
	randomMost, sequentialMost = 0.30, 0.70
	// mostCapacity is MC_i (chosen by us: the text says it matters less).
	mostCapacity = 0.9
	// saturation is the part of what a node can do of a workload at which its limit on
	// response times is reached; beyond all of it, I/Os are not done (chosen by us).
	saturation = 0.8
	// lossError is the deviation of the logarithm of what a pair really loses from what twins
	// predict (chosen by us).
	lossError = 0.3
)

// Options are the assumptions that outcomes depend on most.
type Options struct {
	// LeastUse and MostUse bound the mean use of an instance, as parts of the bandwidth of a
	// node of the first type.
	LeastUse float64 `json:"least_use"`
	MostUse  float64 `json:"most_use"`
	// LossFactor scales what pairs lose, as predicted and as it really is.
	LossFactor float64 `json:"loss_factor"`
}

// DefaultOptions have means of single digits of percent: the text says that they are "rarely
// above" (§B.7).
func DefaultOptions() Options { return Options{LeastUse: 0.01, MostUse: 0.09, LossFactor: 1} }

// ErrOptions: the options are out of bounds.
var ErrOptions = errors.New("consolidation")

func (o Options) check() error {
	switch {
	case !(o.LeastUse > 0 && o.LeastUse <= o.MostUse && o.MostUse <= 1):
		return fmt.Errorf("%w: a mean use of %g to %g; parts of a node, above 0", ErrOptions, o.LeastUse, o.MostUse)
	case !(o.LossFactor >= 0 && o.LossFactor <= mostFactor):
		return fmt.Errorf("%w: losses scaled by %g; 0 to %d", ErrOptions, o.LossFactor, mostFactor)
	}
	return nil
}

// mostFactor bounds a factor, against slips of the pen.
const mostFactor = 100

// Setup is a cluster with its demand.
type Setup struct {
	Seed    uint64
	options Options
	// scene has an object for each instance.
	scene *consolidate.Scene
	rates [][]float64 // bytes per second by instance and interval
	means []float64   // of the rates
	bytes []float64   // by instance
	truth [][][]float64
}

// NewSetup draws instances among volumes. Those of an application are alike in how
// sequential they are.
func NewSetup(volumes []Volume, o Options, seed uint64) (*Setup, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if len(volumes) < instances {
		return nil, fmt.Errorf("%w: %d volumes for %d instances", ErrVolumes, len(volumes), instances)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	drawn := slices.Clone(volumes)
	rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	drawn = drawn[:instances]
	slices.SortStableFunc(drawn, func(a, b Volume) int { return cmp.Compare(a.Sequential, b.Sequential) })
	s := &Setup{Seed: seed, options: o, scene: &consolidate.Scene{}}
	s.addNodes(rng)
	for a := range applications {
		s.addApplication(a, drawn[a*instances/applications:(a+1)*instances/applications], rng)
	}
	s.addLosses(rng)
	return s, s.scene.Check()
}

// addNodes mixes the types, so that no scheme fills one type first by chance of the order.
func (s *Setup) addNodes(rng *rand.Rand) {
	for k, n := range nodeKinds {
		s.scene.Types = append(s.scene.Types, consolidate.NodeType{
			Name: n.name, BandwidthBytesPerSec: float64(n.disks) * diskBytesPerSec, CapacityBytes: n.capacityBytes,
			Power: consolidate.AssumedPower(n.mostWatts, n.disks),
		})
		for range n.nodes {
			s.scene.Nodes = append(s.scene.Nodes, k)
		}
	}
	rng.Shuffle(len(s.scene.Nodes), func(i, j int) { s.scene.Nodes[i], s.scene.Nodes[j] = s.scene.Nodes[j], s.scene.Nodes[i] })
}

func (s *Setup) addApplication(number int, of []Volume, rng *rand.Rand) {
	sequential := 0.0
	for _, v := range of {
		sequential += v.Sequential / float64(len(of))
	}
	a := consolidate.Application{Name: fmt.Sprintf("app-%d", number)}
	for range s.scene.Types {
		a.MostBandwidth = append(a.MostBandwidth, randomMost+(sequentialMost-randomMost)*sequential)
		a.MostCapacity = append(a.MostCapacity, mostCapacity)
	}
	s.scene.Applications = append(s.scene.Applications, a)
	for _, v := range of {
		s.scene.Objects = append(s.scene.Objects, consolidate.Object{Instance: len(s.scene.Instances), Share: 1})
		s.scene.Instances = append(s.scene.Instances, consolidate.Instance{Name: v.Name, Application: number})
		s.bytes = append(s.bytes, leastBytes+(mostBytes-leastBytes)*rng.Float64())
		use := s.options.LeastUse + (s.options.MostUse-s.options.LeastUse)*rng.Float64()
		scale := use * s.scene.Types[0].BandwidthBytesPerSec / mean(v.BytesPerSec)
		rates := make([]float64, len(v.BytesPerSec))
		for i, r := range v.BytesPerSec {
			rates[i] = scale * r
		}
		s.rates, s.means = append(s.rates, rates), append(s.means, mean(rates))
	}
}

// addLosses sets what pairs lose. In a queue the time of an I/O goes with 1/(1−u), where u
// is the part of what the node can do of a workload; next to one more with u_j, i keeps
// (1−u_i−u_j)/(1−u_i) of its performance: it loses u_j/(1−u_i).
func (s *Setup) addLosses(rng *rand.Rand) {
	use := make([]float64, applications) // mean of the instances, in bytes per second
	for i, in := range s.scene.Instances {
		use[in.Application] += s.means[i] * applications / instances
	}
	for k, t := range s.scene.Types {
		predicted, truth := make([][]float64, applications), make([][]float64, applications)
		for i := range applications {
			for j := range applications {
				of := func(a int) float64 {
					return use[a] / (s.scene.Applications[a].MostBandwidth[k] / saturation * t.BandwidthBytesPerSec)
				}
				loss := min(1, s.options.LossFactor*of(j)/max(1-of(i), leastLeft))
				predicted[i] = append(predicted[i], loss)
				truth[i] = append(truth[i], min(1, loss*math.Exp(lossError*rng.NormFloat64())))
			}
		}
		s.scene.Loss, s.truth = append(s.scene.Loss, predicted), append(s.truth, truth)
	}
}

// leastLeft bounds what an application leaves of a node, so that no loss is infinite.
const leastLeft = 0.05

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// divided is the scene with instances in chunks.
func (s *Setup) divided() *consolidate.Scene {
	out := *s.scene
	out.Objects = nil
	for i, bytes := range s.bytes {
		n := int(math.Ceil(bytes / chunkBytes))
		for range n {
			out.Objects = append(out.Objects, consolidate.Object{Instance: i, Share: 1 / float64(n)})
		}
	}
	return &out
}

// demand of the objects of a scene, where instances have some bandwidths.
func (s *Setup) demand(scene *consolidate.Scene, of func(instance int) float64) []consolidate.Demand {
	out := make([]consolidate.Demand, len(scene.Objects))
	for i, o := range scene.Objects {
		out[i] = consolidate.Demand{BandwidthBytesPerSec: o.Share * of(o.Instance), Bytes: o.Share * s.bytes[o.Instance]}
	}
	return out
}

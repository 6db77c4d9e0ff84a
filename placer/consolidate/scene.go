package consolidate

import (
	"errors"
	"fmt"
	"math"
)

// NodeType is a kind of storage nodes.
type NodeType struct {
	Name                 string
	BandwidthBytesPerSec float64 // as rated
	CapacityBytes        float64
	Power                Power
}

// Application is a program whose instances have data on nodes.
type Application struct {
	Name string
	// MostBandwidth is MB_i by type of node: the part of the rated bandwidth (0..1) up to
	// which the application keeps its limit on response times. MostCapacity is MC_i.
	MostBandwidth, MostCapacity []float64
}

// Instance is one data set of an application.
type Instance struct {
	Name        string
	Application int
}

// Object is what is placed whole: an instance's data, or a chunk of them.
type Object struct {
	Instance int
	// Share is the object's part of its instance's demand (0..1).
	Share float64
}

// Demand is what an object needs.
type Demand struct {
	BandwidthBytesPerSec float64
	Bytes                float64
}

// Scene is a cluster and its data. It is not changed by deciding.
type Scene struct {
	Types        []NodeType
	Nodes        []int // the type of each
	Applications []Application
	Instances    []Instance
	Objects      []Object
	// Loss is the part of its performance (0..1) that an instance of application i loses next
	// to one of j, on nodes of a type: Loss[type][i][j].
	Loss [][][]float64
}

// ErrScene: a scene cannot be decided on.
var ErrScene = errors.New("no scene")

// Check looks at the shapes and numbers of a scene.
func (s *Scene) Check() error {
	if len(s.Loss) != len(s.Types) {
		return fmt.Errorf("%w: losses of %d types of nodes, and there are %d", ErrScene, len(s.Loss), len(s.Types))
	}
	for i, t := range s.Types {
		if !(t.BandwidthBytesPerSec > 0) || !(t.CapacityBytes > 0) {
			return fmt.Errorf("%w: nodes of type %s have %g bytes/s and %g bytes", ErrScene, t.Name, t.BandwidthBytesPerSec, t.CapacityBytes)
		}
		if err := s.checkLoss(i); err != nil {
			return err
		}
	}
	for i, t := range s.Nodes {
		if t < 0 || t >= len(s.Types) {
			return fmt.Errorf("%w: node %d has type %d of %d", ErrScene, i, t, len(s.Types))
		}
	}
	return s.checkData()
}

func (s *Scene) checkLoss(of int) error {
	if len(s.Loss[of]) != len(s.Applications) {
		return fmt.Errorf("%w: losses of %d applications on %s, and there are %d", ErrScene, len(s.Loss[of]), s.Types[of].Name, len(s.Applications))
	}
	for i, row := range s.Loss[of] {
		if len(row) != len(s.Applications) {
			return fmt.Errorf("%w: losses of %s next to %d applications, and there are %d", ErrScene, s.Applications[i].Name, len(row), len(s.Applications))
		}
		for j, v := range row {
			if math.IsNaN(v) || v < 0 || v > 1 {
				return fmt.Errorf("%w: %s loses %g next to %s; a part, 0 to 1", ErrScene, s.Applications[i].Name, v, s.Applications[j].Name)
			}
		}
	}
	return nil
}

func (s *Scene) checkData() error {
	for _, a := range s.Applications {
		if len(a.MostBandwidth) != len(s.Types) || len(a.MostCapacity) != len(s.Types) {
			return fmt.Errorf("%w: %s has limits for %d and %d types of nodes, and there are %d", ErrScene, a.Name, len(a.MostBandwidth), len(a.MostCapacity), len(s.Types))
		}
	}
	for _, i := range s.Instances {
		if i.Application < 0 || i.Application >= len(s.Applications) {
			return fmt.Errorf("%w: %s is of application %d of %d", ErrScene, i.Name, i.Application, len(s.Applications))
		}
	}
	for i, o := range s.Objects {
		if o.Instance < 0 || o.Instance >= len(s.Instances) || !(o.Share > 0 && o.Share <= 1) {
			return fmt.Errorf("%w: object %d is %g of instance %d of %d", ErrScene, i, o.Share, o.Instance, len(s.Instances))
		}
	}
	return nil
}

// application of an object.
func (s *Scene) application(object int) int {
	return s.Instances[s.Objects[object].Instance].Application
}

// Nowhere is the node of an object that is on none.
const Nowhere = -1

// Placement is the node of each object.
type Placement []int

// NewPlacement has every object nowhere.
func (s *Scene) NewPlacement() Placement {
	p := make(Placement, len(s.Objects))
	for i := range p {
		p[i] = Nowhere
	}
	return p
}

// On are the nodes that have an object, as flags by node.
func (s *Scene) On(p Placement) []bool {
	on := make([]bool, len(s.Nodes))
	for _, n := range p {
		if n != Nowhere {
			on[n] = true
		}
	}
	return on
}

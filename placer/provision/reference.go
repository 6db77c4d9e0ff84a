package provision

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/numeric/digits"
)

// KernelSpeeds are those of the interference kernels on one node at the best of its looks, by
// resource, in operations per second.
type KernelSpeeds struct {
	Node   string             `json:"node"`
	Speeds map[string]float64 `json:"speeds"`
}

// Bounds of a Reference, chosen by us.
const (
	mostReferences  = 40 // nodes; the oldest goes
	leastReferences = 2  // nodes of which one may be compared with the others
	quietShare      = 10 // of the nodes, one in so many may be faster than a quiet one
)

// Reference is how fast kernels are on quiet nodes of one type, learnt from the nodes that there
// were: nobody tells which of them were quiet, so the fastest are taken for it.
type Reference struct{ nodes []KernelSpeeds }

// NewReference takes over what a predecessor has seen. What no kernel does is left out.
func NewReference(nodes []KernelSpeeds) *Reference {
	r := &Reference{}
	for _, n := range nodes {
		if n.Node != "" {
			r.Add(n.Node, n.Speeds)
		}
	}
	return r
}

// Nodes are those that were seen, the oldest first.
func (r *Reference) Nodes() []KernelSpeeds {
	out := slices.Clone(r.nodes)
	for i := range out {
		out[i].Speeds = maps.Clone(out[i].Speeds)
	}
	return out
}

// Add what was measured on a node.
func (r *Reference) Add(node string, speeds map[string]float64) {
	i := slices.IndexFunc(r.nodes, func(k KernelSpeeds) bool { return k.Node == node })
	if i < 0 {
		r.nodes = append(r.nodes, KernelSpeeds{Node: node, Speeds: map[string]float64{}})
		if over := len(r.nodes) - mostReferences; over > 0 {
			r.nodes = slices.Delete(r.nodes, 0, over)
		}
		i = len(r.nodes) - 1
	}
	for resource, v := range speeds {
		if v > 0 && !math.IsInf(v, 0) {
			r.nodes[i].Speeds[resource] = max(v, r.nodes[i].Speeds[resource])
		}
	}
}

// quiet is what a resource's kernel does on a quiet node; false where too few nodes were seen.
func (r *Reference) quiet(resource string) (float64, bool) {
	var speeds []float64
	for _, n := range r.nodes {
		if v := n.Speeds[resource]; v > 0 {
			speeds = append(speeds, v)
		}
	}
	if len(speeds) < leastReferences {
		return 0, false
	}
	slices.SortFunc(speeds, func(a, b float64) int { return cmp.Compare(b, a) })
	return speeds[len(speeds)/quietShare], true
}

// Pressure is what others press on a node: by how much each kernel is slower there than on a quiet
// node of its type, which is what U of equation 7.3 is made of (Delimitrou 2015). A
// resource that was not measured counts as the one most pressed on. It is nil where nothing can be
// compared.
func (r *Reference) Pressure(resources []string, speeds map[string]float64) Digits {
	out, unmeasured, most := make(Digits, len(resources)), []int{}, uint8(0)
	for i, resource := range resources {
		quiet, known := r.quiet(resource)
		if !known || !(speeds[resource] > 0) {
			unmeasured = append(unmeasured, i)
			continue
		}
		out[i] = uint8(digits.Of(max(0, 100*(1-speeds[resource]/quiet))))
		most = max(most, out[i])
	}
	if len(unmeasured) == len(resources) {
		return nil
	}
	for _, i := range unmeasured {
		out[i] = most
	}
	return out
}

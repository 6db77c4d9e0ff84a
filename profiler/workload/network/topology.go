package network

import (
	"errors"
	"fmt"
	"slices"
)

// ErrTopology: the racks or servers are not what they must be.
var ErrTopology = errors.New("wrong topology")

// Topology says which servers are in which rack, and which racks form a group.
// Servers are numbered rack by rack, and racks group by group, all from 0, so
// that the servers of a rack and of a group are a range. The numbers are the
// only names a model knows.
type Topology struct {
	racksPerGroup  []int
	serversPerRack []int
	cloud          bool

	rackOf, groupOf []int32 // by server; the group by rack
	firstServer     []int32 // by rack, and the number of servers at the end
	firstRack       []int32 // by group, and the number of racks at the end
}

// maxServers bounds what a file can ask for: the study's largest system has
// tens of thousands of servers.
const maxServers = 1 << 20

// NewTopology is a topology of groups with so many racks each, and racks with so
// many servers each. With a cloud, one further node stands for everything outside
// (Delimitrou 2015, §C.5.3).
func NewTopology(racksPerGroup, serversPerRack []int, cloud bool) (Topology, error) {
	t := Topology{
		racksPerGroup: slices.Clone(racksPerGroup), serversPerRack: slices.Clone(serversPerRack), cloud: cloud,
		firstServer: []int32{0}, firstRack: []int32{0},
	}
	racks := 0
	for group, n := range racksPerGroup {
		if n < 1 || n > len(serversPerRack)-racks {
			return Topology{}, fmt.Errorf("%w: group %d has %d racks, and %d are left", ErrTopology, group, n, len(serversPerRack)-racks)
		}
		racks += n
		t.firstRack = append(t.firstRack, int32(racks))
		for range n {
			t.groupOf = append(t.groupOf, int32(group))
		}
	}
	if racks != len(serversPerRack) || racks == 0 {
		return Topology{}, fmt.Errorf("%w: the groups have %d racks, but there are %d", ErrTopology, racks, len(serversPerRack))
	}
	servers := 0
	for rack, n := range serversPerRack {
		if n < 1 || n > maxServers-servers {
			return Topology{}, fmt.Errorf("%w: rack %d has %d servers; 1 to %d in all are possible", ErrTopology, rack, n, maxServers)
		}
		servers += n
		t.firstServer = append(t.firstServer, int32(servers))
		for range n {
			t.rackOf = append(t.rackOf, int32(rack))
		}
	}
	return t, nil
}

// Uniform is a topology of equal groups of equal racks.
func Uniform(groups, racksPerGroup, serversPerRack int) (Topology, error) {
	if groups < 1 || racksPerGroup < 1 || serversPerRack < 1 || groups > maxServers/racksPerGroup || groups*racksPerGroup > maxServers/serversPerRack {
		return Topology{}, fmt.Errorf("%w: %d groups of %d racks of %d servers; each at least 1, at most %d servers in all", ErrTopology, groups, racksPerGroup, serversPerRack, maxServers)
	}
	return NewTopology(slices.Repeat([]int{racksPerGroup}, groups), slices.Repeat([]int{serversPerRack}, groups*racksPerGroup), false)
}

// Servers is the number of servers, without the cloud.
func (t Topology) Servers() int { return len(t.rackOf) }

// Racks is the number of racks.
func (t Topology) Racks() int { return len(t.groupOf) }

// Groups is the number of groups of racks.
func (t Topology) Groups() int { return len(t.racksPerGroup) }

// Nodes is the number of nodes that send and receive: servers, and the cloud.
func (t Topology) Nodes() int {
	if t.cloud {
		return t.Servers() + 1
	}
	return t.Servers()
}

// Cloud is the number of the node that stands for everything outside; ok is
// false where there is none.
func (t Topology) Cloud() (node int, ok bool) { return t.Servers(), t.cloud }

// Rack is the rack of a server.
func (t Topology) Rack(server int) int { return int(t.rackOf[server]) }

// Group is the group of a server.
func (t Topology) Group(server int) int { return int(t.groupOf[t.rackOf[server]]) }

// ServersOf is the range [from, to) of the servers of a rack.
func (t Topology) ServersOf(rack int) (from, to int) {
	return int(t.firstServer[rack]), int(t.firstServer[rack+1])
}

// Equal reports that both have the same shape.
func (t Topology) Equal(o Topology) bool {
	return t.cloud == o.cloud && slices.Equal(t.racksPerGroup, o.racksPerGroup) && slices.Equal(t.serversPerRack, o.serversPerRack)
}

// String is the size in words.
func (t Topology) String() string {
	text := fmt.Sprintf("%d servers in %d racks in %d groups", t.Servers(), t.Racks(), t.Groups())
	if t.cloud {
		text += ", and the cloud"
	}
	return text
}

// isCloud reports that a node is no server.
func (t Topology) isCloud(node int32) bool { return t.cloud && int(node) == len(t.rackOf) }

// states is how many states a level has.
func (t Topology) states(l Level) int {
	switch l {
	case ClusterLevel:
		return 1
	case GroupLevel:
		return t.Groups()
	case RackLevel:
		return t.Racks()
	default:
		return t.Nodes()
	}
}

// serversIn is the range [from, to) of the servers of a state.
func (t Topology) serversIn(l Level, state int32) (from, to int32) {
	switch l {
	case ClusterLevel:
		return 0, int32(t.Servers())
	case GroupLevel:
		return t.firstServer[t.firstRack[state]], t.firstServer[t.firstRack[state+1]]
	case RackLevel:
		return t.firstServer[state], t.firstServer[state+1]
	default:
		return state, state + 1
	}
}

// stateOf is the state of a level that a server belongs to.
func (t Topology) stateOf(l Level, server int32) int32 {
	switch l {
	case ClusterLevel:
		return 0
	case GroupLevel:
		return t.groupOf[t.rackOf[server]]
	case RackLevel:
		return t.rackOf[server]
	default:
		return server
	}
}

// ServerName is a name for a server that has none of its own, as a table of one's own
// calls servers: group/rack/server, by number.
func ServerName(t Topology, node int) string {
	if cloud, ok := t.Cloud(); ok && node == cloud {
		return CloudName
	}
	from, _ := t.ServersOf(t.Rack(node))
	return fmt.Sprintf("group-%d/rack-%d/server-%d", t.Group(node), t.Rack(node), node-from)
}

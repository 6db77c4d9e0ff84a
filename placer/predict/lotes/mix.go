package lotes

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Mix is a plan on the machines of a board, and how far each is from its bin. The
// selector and the controller of one board share it.
//
// Where no model was set (SetModel), one is read off the board: the jobs that run
// and the one that is asked for, as classes of alike size. It depends on the present
// board only, and changes when the mix of what runs has changed clearly.
type Mix struct {
	board    *board.Board
	kinds    []*kind
	place    []spot // by node
	clock    float64
	unit     Size // of the largest node
	ready    []bool
	cells    census
	model    Model
	plan     *Plan
	routes   [][]float64
	printed  [][]float64 // routes, literally
	target   []Bin       // by node; nil: none yet
	running  [][]int32   // by node and class
	taken    []int32     // of the present choice, by node
	took     int         // the class of the present choice
	given    bool        // the model was set
	stale    bool        // nodes came, went or changed their state
	signed   string      // what the present plan was read off
	plans    map[string]*Plan
	pairings Pairings
	report   Report
	tried    []bool // of the present choice, by kind
	version  int
}

// Report counts what became of plans.
type Report struct {
	Plans     int // made
	Permuted  int // machines that got another bin by a new plan
	Unplanned int // classes no machine could hold: dispatched by first fit
	Failed    int // plans that could not be made: everything by first fit
}

// spot is where a node is.
type spot struct{ kind, at int32 }

// plansMost are remembered.
const plansMost = 64

// On returns the mix of a board, which whoever asks first makes.
func On(b *board.Board) *Mix {
	for _, l := range b.Listeners() {
		if m, ok := l.(*Mix); ok {
			return m
		}
	}
	m := &Mix{board: b, stale: true, plans: map[string]*Plan{}, unit: Size{1, 1, 1}}
	b.Listen(m)
	return m
}

// SetModel says what the classes are, from now on; the next choice goes by a plan of
// them, which permutes as few machines as it can.
func (m *Mix) SetModel(model Model) {
	m.model, m.given, m.stale = model, true, true
}

// SetPairings says which classes bins may hold.
func (m *Mix) SetPairings(p Pairings) { m.pairings, m.stale = p, true }

// Given reports whether a model was set.
func (m *Mix) Given() bool { return m.given }

// Plan is the present one; nil where there is none.
func (m *Mix) Plan() *Plan { return m.plan }

// Version changes with every new plan: classes and nodes may be numbered anew.
func (m *Mix) Version() int { return m.version }

// Report counts so far.
func (m *Mix) Report() Report { return m.report }

// NodeChanged implements board.Listener.
func (m *Mix) NodeChanged(n board.Index) {
	if m.stale || int(n) >= len(m.place) || m.board.Ready(n) != m.ready[n] {
		m.stale = true
		return
	}
	if !m.given {
		m.cells.read(m, n)
	}
	m.count(n)
	m.update(n)
}

// update the index for a node.
func (m *Mix) update(n board.Index) {
	at := m.place[n]
	k := m.kinds[at.kind]
	k.rooms.Update(int(at.at), m.scores(k))
}

// scores of the machines of a kind: twice how many jobs of a class are missing, and
// one more where the bin has the class at all, which breaks ties.
func (m *Mix) scores(k *kind) func(int, []int32) {
	return func(at int, out []int32) {
		n := k.nodes[at]
		for c := range out {
			out[c] = m.score(n, c)
		}
	}
}

func (m *Mix) score(n board.Index, class int) int32 {
	v := -m.running[n][class]
	if class == m.took {
		v -= m.taken[n]
	}
	if bin := m.target[n]; bin != nil && bin[class] > 0 {
		return 2*(v+bin[class]) + 1
	}
	return 2 * v
}

// Missing is v: how many jobs of a class a machine lacks; negative where it has
// more than its bin.
func (m *Mix) Missing(n board.Index, class int) int {
	v := -int(m.running[n][class])
	if m.target[n] != nil {
		v += int(m.target[n][class])
	}
	return v
}

// Assigned reports whether the plan puts jobs of the class on the kind of a node.
func (m *Mix) Assigned(n board.Index, class int) bool {
	return m.plan != nil && m.plan.Stock[m.place[n].kind][class] > 0
}

// Planned reports whether the plan has machines for a job of the class that are
// large enough for this one when they are empty.
func (m *Mix) Planned(class int, size cluster.Resources) bool {
	if m.plan == nil {
		return false
	}
	need := m.sizeOf(size).vector()
	for j, k := range m.kinds {
		if m.plan.Stock[j][class] <= 0 || k.ready == 0 {
			continue
		}
		holds := true
		for l, v := range need {
			holds = holds && v <= k.capacity[l]
		}
		if holds {
			return true
		}
	}
	return false
}

// Classes is how many there are; Class is that of a job.
func (m *Mix) Classes() int { return len(m.model.Classes) }

// Class of a job.
func (m *Mix) Class(a *board.Request) int { return m.classOf(a.Size, a.Class) }

// count what runs on a node.
func (m *Mix) count(n board.Index) {
	own := m.running[n]
	clear(own)
	residents := m.board.Residents(n)
	for i := range residents {
		own[m.classOf(residents[i].Size, residents[i].Class)]++
	}
}

// Ready brings the plan up to date for an ask.
func (m *Mix) Ready(a *board.Request) {
	if m.stale {
		m.group()
	} else if m.given {
		return
	}
	if !m.given {
		signature := m.cells.signature(m, a)
		if signature == m.signed && !m.stale {
			return
		}
		m.signed = signature
		m.model = m.cells.model(m, a)
	}
	m.replan()
	m.stale = false
}

// group the nodes anew.
func (m *Mix) group() {
	before := m.target
	m.kinds = kinds(m.board)
	n := m.board.Len()
	m.place, m.ready = make([]spot, n), make([]bool, n)
	m.target, m.running, m.taken = make([]Bin, n), make([][]int32, n), make([]int32, n)
	copy(m.target, before)
	clock := 0.0
	m.unit = Size{1, 1, 1}
	for j, k := range m.kinds {
		k.ready = 0
		for at, i := range k.nodes {
			m.place[i] = spot{int32(j), int32(at)}
			if m.ready[i] = m.board.Ready(i); m.ready[i] {
				k.ready++
			}
			node := m.board.Node(i)
			clock += float64(node.CoreMHz) / float64(n)
			m.unit.CPUMHz, m.unit.MemoryMB = max(m.unit.CPUMHz, float64(node.Total.CPUMHz)), max(m.unit.MemoryMB, float64(node.Total.MemoryMB))
		}
	}
	m.clock = clock
	m.cells = census{}
	if !m.given {
		for i := range n {
			m.cells.read(m, board.Index(i))
		}
	}
}

// replan makes a plan of the model, puts its bins on machines and fills the index.
func (m *Mix) replan() {
	m.version++
	m.plan = m.planned()
	classes := len(m.model.Classes)
	m.routes, m.printed = table(classes, len(m.kinds)), table(classes, len(m.kinds))
	if m.plan != nil {
		m.routes, m.printed = m.plan.Routes(false), m.plan.Routes(true)
	}
	for j, k := range m.kinds {
		m.deal(j, k)
		for _, n := range k.nodes {
			m.running[n] = make([]int32, classes)
			m.count(n)
		}
		k.rooms = NewRooms(m.board, k.nodes, classes)
		k.rooms.Fill(m.scores(k))
	}
}

// planned is the plan of the model: made, or remembered where it was read off the
// board. Classes that no machine can hold are left out of it.
func (m *Mix) planned() *Plan {
	if p, ok := m.plans[m.signed]; ok && !m.given {
		return p
	}
	program := m.program(&m.model)
	for k := range program.Classes {
		if program.placeable(k) != nil {
			program.Classes[k].Share = 0
			m.report.Unplanned++
		}
	}
	p, err := Make(program, m.pairings)
	if err != nil {
		m.report.Failed++
		p = nil
	} else {
		m.report.Plans++
	}
	if !m.given {
		if len(m.plans) >= plansMost {
			clear(m.plans)
		}
		m.plans[m.signed] = p
	}
	return p
}

// deal the bins of a kind to its machines: those that had one of them keep it, the
// others get what is left in the order of their place. What was read off the board
// is dealt in order alone, so that it depends on the board only.
func (m *Mix) deal(j int, k *kind) {
	if m.plan == nil {
		for _, n := range k.nodes {
			m.target[n] = nil
		}
		return
	}
	left := make([]int, len(m.plan.Shares[j]))
	for i, s := range m.plan.Shares[j] {
		left[i] = int(s.Machines)
	}
	open := make([]board.Index, 0, len(k.nodes))
	for _, n := range k.nodes {
		if !m.ready[n] {
			m.target[n] = nil
			continue
		}
		kept := -1
		if m.given && m.target[n] != nil {
			kept = slices.IndexFunc(m.plan.Shares[j], func(s Share) bool { return slices.Equal(s.Bin, m.target[n]) })
		}
		if kept >= 0 && left[kept] > 0 {
			left[kept]--
			continue
		}
		open = append(open, n)
	}
	at := 0
	for _, n := range open {
		for at < len(left) && left[at] == 0 {
			at++
		}
		if m.target[n] != nil {
			m.report.Permuted++
		}
		if at == len(left) {
			m.target[n] = nil
			continue
		}
		left[at]--
		m.target[n] = m.plan.Shares[j][at].Bin
	}
}

// Choose dispatches on arrival (§4.3.1): a configuration by roulette, in it the
// machine with room that lacks most jobs of the class; then the next one; then any
// machine with room. literal draws by stock instead of flow.
func (m *Mix) Choose(a *board.Request, pass func(board.Index) bool, literal bool, random *rand.Rand) (n board.Index, examined int) {
	class := m.Class(a)
	if a.Only != nil {
		return m.among(a, class, pass)
	}
	routes := m.routes[class]
	if literal {
		routes = m.printed[class]
	}
	m.tried = append(m.tried[:0], make([]bool, len(m.kinds))...)
	tried := m.tried
	left := 0.0
	for _, share := range routes {
		left += share
	}
	for left > 1e-12 {
		j := draw(routes, tried, random.Float64()*left)
		if j < 0 {
			break
		}
		tried[j] = true
		left -= routes[j]
		at, looked := m.kinds[j].rooms.Best(class, a.Size, pass)
		examined += looked
		if at >= 0 {
			return m.kinds[j].nodes[at], examined
		}
	}
	for j, k := range m.kinds {
		if tried[j] {
			continue
		}
		at, looked := k.rooms.First(a.Size, pass)
		examined += looked
		if at >= 0 {
			return k.nodes[at], examined
		}
	}
	return board.None, examined
}

// draw the first configuration whose cumulated share exceeds u, of those not tried.
func draw(shares []float64, tried []bool, u float64) int {
	last, sum := -1, 0.0
	for j, share := range shares {
		if tried[j] || share <= 0 {
			continue
		}
		last = j
		if sum += share; sum > u {
			break
		}
	}
	return last
}

// among a few nodes.
func (m *Mix) among(a *board.Request, class int, pass func(board.Index) bool) (board.Index, int) {
	best, top := board.None, int32(math.MinInt32)
	for _, n := range a.Only {
		if s := m.score(n, class); (best == board.None || s > top) && m.board.Room(n, a.Size, int(m.taken[n])+1) > int(m.taken[n]) && (pass == nil || pass(n)) {
			best, top = n, s
		}
	}
	return best, len(a.Only)
}

// Take puts allocations of an ask on a node for the rest of a choice, until Return.
func (m *Mix) Take(a *board.Request, n board.Index) {
	m.took = m.Class(a)
	m.taken[n]++
	at := m.place[n]
	m.kinds[at.kind].rooms.Take(int(at.at), a.Size, int(m.taken[n]))
	m.update(n)
}

// Return takes all of them away again.
func (m *Mix) Return(n board.Index) {
	if m.taken[n] == 0 {
		return
	}
	m.taken[n] = 0
	at := m.place[n]
	m.kinds[at.kind].rooms.Return(int(at.at))
	m.update(n)
}

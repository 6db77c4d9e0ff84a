package admissiontest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
)

// Traits are what a controller does not promise.
type Traits struct {
	// StrictHead: one item that can never run holds up all others.
	StrictHead bool
	// Delay: an item may wait so long for others, although there is room.
	Delay time.Duration
}

// scenarios is how many random scenarios a property is tried on: enough to meet
// every stage of every controller, few enough for a second.
const scenarios = 40

// Run tries the controller against the suite.
func Run(t *testing.T, d admission.Descriptor, traits Traits) {
	t.Helper()
	t.Run("nothing is lost", func(t *testing.T) { t.Parallel(); nothingLost(t, d) })
	t.Run("impossible items", func(t *testing.T) { t.Parallel(); impossible(t, d, traits) })
	t.Run("an empty board, and nodes that come", func(t *testing.T) { t.Parallel(); nodesCome(t, d) })
	t.Run("items come back", func(t *testing.T) { t.Parallel(); comeBack(t, d, traits) })
	t.Run("nothing known", func(t *testing.T) { t.Parallel(); nothingKnown(t, d) })
	t.Run("a rebuilt controller", func(t *testing.T) { t.Parallel(); rebuilt(t, d) })
	t.Run("options", func(t *testing.T) { t.Parallel(); options(t, d) })
}

// Size of one core of the nodes of Random.
var core = cluster.Resources{CPUMHz: 1000, MemoryMB: 1000}

// Cores is so many cores, with their share of memory.
func Cores(n int) cluster.Resources {
	return cluster.Resources{CPUMHz: n * core.CPUMHz, MemoryMB: n * core.MemoryMB}
}

// Node is a node of so many cores of the first configuration.
func Node(name string, cores int) board.Node {
	return board.Node{ID: cluster.NodeID(name), Total: Cores(cores), CoreMHz: core.CPUMHz}
}

// Random is a scenario of some hundred jobs on some nodes, at times crowded.
func Random(seed uint64) Scenario {
	random := rand.New(rand.NewPCG(seed, 2))
	s := Scenario{Columns: []string{"a", "b", "c"}[:1+random.IntN(3)], Configurations: []string{"big", "small"}, Seed: seed}
	for i := range 2 + random.IntN(8) {
		n := Node(fmt.Sprintf("n%02d", i), 2+random.IntN(6))
		if random.IntN(2) == 0 {
			n.Configuration, n.Capability = 1, scores(random, len(s.Columns), 40, 60)
		}
		s.Nodes = append(s.Nodes, n)
	}
	pace := time.Duration(1+random.IntN(20)) * time.Second
	at := time.Duration(0)
	for range 100 {
		at += time.Duration(random.Float64() * float64(pace))
		s.Jobs = append(s.Jobs, randomJob(random, at, len(s.Columns)))
	}
	for range random.IntN(3) {
		down := time.Duration(random.Float64() * float64(at))
		s.Outages = append(s.Outages, Outage{Node: board.Index(random.IntN(len(s.Nodes))), At: down, Back: down + time.Minute})
	}
	return s
}

func randomJob(random *rand.Rand, at time.Duration, columns int) Job {
	expected := time.Duration(float64(time.Minute) * (0.05 + 20*random.Float64()*random.Float64()))
	j := Job{
		At: at, Duration: expected + time.Duration(random.Float64()*float64(expected)/5),
		Ask: board.Request{
			Size: Cores(1 + random.IntN(2)), Priority: 50 * random.IntN(2), Expected: expected, SlowdownMax: 0.05,
			Tolerated: scores(random, columns, 30, 70), Caused: scores(random, columns, 0, 60), Speed: []float64{1, 0.5 + random.Float64()},
		},
	}
	if random.IntN(3) == 0 {
		j.Profile = time.Duration(random.IntN(30)) * time.Second
	}
	return j
}

func scores(random *rand.Rand, n int, least, spread float64) []float64 {
	out := make([]float64, n)
	for k := range out {
		out[k] = least + spread*random.Float64()
	}
	return out
}

// nothingLost: every item is placed in the end, a replay is the same, whether
// decisions take time or not.
func nothingLost(t *testing.T, d admission.Descriptor) {
	for seed := range uint64(scenarios) {
		s := Random(seed)
		if seed%2 == 1 {
			s.DecisionTime, s.Agents = 700*time.Millisecond, 3
		}
		first := Play(t, d, s)
		for i, o := range first.Outcomes {
			if !o.Placed {
				t.Errorf("seed %d: job %d was never placed", seed, i)
			}
		}
		if again := Play(t, d, s); !slices.Equal(first.Log, again.Log) {
			t.Errorf("seed %d: a replay differs", seed)
		}
		if t.Failed() {
			return
		}
	}
}

// impossible: an item that no node can hold waits for ever, and others do not
// notice; withdrawn, it is gone.
func impossible(t *testing.T, d admission.Descriptor, traits Traits) {
	for seed := range uint64(scenarios) {
		s := Random(seed)
		s.DecisionTime, s.Agents = time.Duration(seed%2)*time.Second, 2
		first := s.Jobs[0]
		first.Ask.Size = Cores(1000)
		if traits.StrictHead {
			first.Withdrawn = time.Minute
		}
		s.Jobs[0] = first
		s.Jobs[1].Withdrawn = time.Nanosecond
		r := Play(t, d, s)
		if r.Outcomes[0].Placed {
			t.Fatalf("seed %d: %+v", seed, r.Outcomes[0])
		}
		for i, o := range r.Outcomes[2:] {
			if !o.Placed {
				t.Fatalf("seed %d: job %d was never placed", seed, i+2)
			}
		}
	}
}

// nodesCome: what found no node at all is placed when the first one comes.
func nodesCome(t *testing.T, d admission.Descriptor) {
	s := Random(1)
	s.Nodes, s.Outages = nil, nil
	for _, o := range Play(t, d, s).Outcomes {
		if o.Placed {
			t.Fatalf("placed without a node: %+v", o)
		}
	}
	b := Board(s)
	c := build(t, d, b)
	ask := s.Jobs[0].Ask
	ask.Handle = 1
	c.Arrive(0, admission.Item{Ask: &ask})
	drain(c, 0)
	n := b.Add(Node("late", 8))
	b.SetReady(n, false)
	drain(c, time.Minute)
	b.SetReady(n, true)
	a, ok := c.Next(2 * time.Minute)
	if !ok || a.Item.Ask.Handle != 1 || a.Within != nil && !a.Within(n) {
		t.Errorf("a node came, and the item is not offered it: %+v, %v", a, ok)
	}
	c.Placed(2*time.Minute, 1)
	if c.Waiting() != 0 {
		t.Errorf("%d wait", c.Waiting())
	}
}

func build(t *testing.T, d admission.Descriptor, b *board.Board) admission.Controller {
	t.Helper()
	c, err := d.New(b, admission.Options{}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// drain refuses whatever is offered.
func drain(c admission.Controller, now time.Duration) (offered int) {
	for a, ok := c.Next(now); ok; a, ok = c.Next(now) {
		offered++
		c.Refused(now, a.Item.Ask.Handle)
	}
	return offered
}

// comeBack: answers about items that are not held change nothing, and an item
// that arrives again replaces its older self.
func comeBack(t *testing.T, d admission.Descriptor, traits Traits) {
	s := Random(2)
	c := build(t, d, Board(s))
	ask := s.Jobs[0].Ask
	ask.Handle = 7
	c.Placed(0, 7)
	c.Refused(0, 7)
	c.Withdraw(7)
	for now := range 3 * time.Nanosecond {
		c.Arrive(now, admission.Item{Ask: &ask, Arrived: now, Ready: now})
	}
	if c.Waiting() != 1 {
		t.Fatalf("%d items wait, one arrived three times", c.Waiting())
	}
	a, ok := c.Next(3 + traits.Delay)
	if !ok || a.Item.Arrived != 2 {
		t.Fatalf("offered %+v, %v", a, ok)
	}
	c.Withdraw(7) // while it is tried
	c.Arrive(3, admission.Item{Ask: &ask, Arrived: 3, Ready: 3})
	if a, ok = c.Next(3 + traits.Delay); !ok || a.Item.Arrived != 3 {
		t.Fatalf("offered %+v, %v", a, ok)
	}
	c.Placed(3, 7)
	if _, ok = c.Next(4 + traits.Delay); ok || c.Waiting() != 0 {
		t.Errorf("%d wait after all were placed", c.Waiting())
	}
	if at, ok := c.Wake(); ok {
		t.Errorf("wakes at %v for nothing", at)
	}
}

// nothingKnown: items without scores, speeds and run times are placed too.
func nothingKnown(t *testing.T, d admission.Descriptor) {
	for seed := range uint64(scenarios) {
		s := Random(seed)
		for i := range s.Jobs {
			a := &s.Jobs[i].Ask
			*a = board.Request{Size: a.Size}
		}
		for i, o := range Play(t, d, s).Outcomes {
			if !o.Placed {
				t.Fatalf("seed %d: job %d was never placed", seed, i)
			}
		}
	}
}

// rebuilt: a controller that starts on a board with residents, and is handed the
// items another one held, loses none of them.
func rebuilt(t *testing.T, d admission.Descriptor) {
	for seed := range uint64(scenarios) {
		s := Random(seed)
		s.Until = s.Jobs[len(s.Jobs)/2].At
		before := Play(t, d, s)
		c := build(t, d, before.Board)
		var items []admission.Item
		asks := make([]board.Request, len(s.Jobs))
		for i, o := range before.Outcomes {
			if j := s.Jobs[i]; !o.Placed && j.At+j.Profile <= s.Until {
				asks[i] = j.Ask
				asks[i].Handle = board.Handle(i + 1)
				items = append(items, admission.Item{Ask: &asks[i], Arrived: j.At, Ready: j.At + j.Profile, Profile: j.Profile})
				c.Arrive(s.Until, items[len(items)-1])
			}
		}
		if c.Waiting() != len(items) {
			t.Fatalf("seed %d: %d of %d items are held", seed, c.Waiting(), len(items))
		}
		empty(t, before.Board)
		finish(t, c, before.Board, s.Until)
	}
}

// empty removes all residents.
func empty(t *testing.T, b *board.Board) {
	t.Helper()
	for n := range board.Index(b.Len()) {
		for _, r := range slices.Clone(b.Residents(n)) {
			if err := b.Remove(n, r.Handle); err != nil {
				t.Fatal(err)
			}
		}
		b.SetReady(n, true)
	}
}

// finish places whatever is offered, each on an empty board, until nothing waits.
func finish(t *testing.T, c admission.Controller, b *board.Board, now time.Duration) {
	t.Helper()
	for range 100_000 {
		a, ok := c.Next(now)
		if !ok {
			at, wakes := c.Wake()
			if c.Waiting() == 0 {
				return
			}
			if !wakes {
				t.Fatalf("%d wait, and nothing will change", c.Waiting())
			}
			now = at
			continue
		}
		found := false
		for n := range board.Index(b.Len()) {
			found = found || b.Fits(n, a.Item.Ask.Size) && (a.Within == nil || a.Within(n))
		}
		if found {
			c.Placed(now, a.Item.Ask.Handle)
		} else {
			c.Refused(now, a.Item.Ask.Handle)
		}
	}
	t.Fatalf("%d wait after 100,000 questions", c.Waiting())
}

// options: an unknown one is an error that lists the known ones.
func options(t *testing.T, d admission.Descriptor) {
	b := Board(Random(3))
	random := rand.New(rand.NewPCG(1, 1))
	bad := []admission.Options{{Values: map[string]string{"colour": "red"}}, {Classes: -1}}
	for _, p := range d.Parameters {
		bad = append(bad, admission.Options{Values: map[string]string{p.Name: "nonsense"}})
		if p.Summary == "" {
			t.Errorf("%s is not explained", p.Name)
		}
		good := admission.Options{Values: map[string]string{p.Name: p.Default}}
		if _, err := d.New(b, good, random); err != nil {
			t.Errorf("the default of %s: %v", p.Name, err)
		}
	}
	for _, o := range bad {
		_, err := d.New(b, o, random)
		if !errors.Is(err, admission.ErrOption) || !strings.Contains(err.Error(), d.Name) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
}

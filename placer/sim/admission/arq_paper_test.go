package admission_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission/admissiontest"
)

// windowOf is how long a job may wait, counted from ready (Delimitrou 2015, §6.4).
func windowOf(j admissiontest.Job) time.Duration {
	if j.Ask.Expected == 0 {
		return time.Minute
	}
	return max(time.Second, time.Duration(0.05*float64(j.Ask.Expected))-j.Profile)
}

// §6.3: in every case a job gets a server inside its window, where any has room.
func TestNobodyWaitsPastItsWindowWhileRoomExists(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		s := admissiontest.Random(seed)
		s.Quiet = func(now time.Duration, b *board.Board, waiting []int) {
			for _, i := range waiting {
				j := s.Jobs[i]
				if now < j.At+j.Profile+windowOf(j) {
					continue
				}
				for n := range board.Index(b.Len()) {
					if b.Fits(n, j.Ask.Size) {
						t.Errorf("seed %d: at %v job %d waits past its window, and node %d has room", seed, now, i, n)
					}
				}
			}
		}
		if admissiontest.Play(t, lookup(t, "arq"), s); t.Failed() {
			return
		}
	}
}

// §6.2: inside a pool nobody is harmed, and nobody harms.
func TestPoolsOfferHarmlessNodesOnly(t *testing.T) {
	t.Parallel()
	offered := 0
	for seed := range uint64(20) {
		s := admissiontest.Random(seed)
		s.Offered = func(_ time.Duration, b *board.Board, a admission.Attempt) {
			if a.Forced {
				return
			}
			for n := range board.Index(b.Len()) {
				if !a.Within(n) {
					continue
				}
				offered++
				for k := range b.Columns {
					if b.Headroom(n)[k] < a.Item.Ask.Caused[k]-1e-6 || a.Item.Ask.Tolerated[k] < b.Caused(n)[k]-1e-6 {
						t.Errorf("seed %d: node %d is offered, which is harmed or harms", seed, n)
					}
				}
			}
		}
		admissiontest.Play(t, lookup(t, "arq"), s)
	}
	if offered == 0 {
		t.Error("no node was ever offered")
	}
}

// A configuration on which an item alone breaks its bound is not offered, unless the
// pools are as printed.
func TestPoolsOfferFastConfigurations(t *testing.T) {
	t.Parallel()
	slowOffers := func(configurations string) int {
		d := lookup(t, "arq")
		made := d.New
		d.New = func(b *board.Board, o admission.Options, r *rand.Rand) (admission.Controller, error) {
			o.Values = map[string]string{"configurations": configurations}
			return made(b, o, r)
		}
		slow := 0
		for seed := range uint64(20) {
			s := admissiontest.Random(seed)
			s.Offered = func(_ time.Duration, b *board.Board, a admission.Attempt) {
				if a.Forced {
					return
				}
				best := 0.0
				for n := range board.Index(b.Len()) {
					if node := b.Node(n); a.Item.Ask.Size.CPUMHz <= node.Total.CPUMHz {
						best = max(best, a.Item.Ask.Speed[node.Configuration])
					}
				}
				for n := range board.Index(b.Len()) {
					if a.Within(n) && a.Item.Ask.Speed[b.Node(n).Configuration] < 0.95*best-1e-9 {
						slow++
					}
				}
			}
			admissiontest.Play(t, d, s)
		}
		return slow
	}
	if fast, printed := slowOffers("fast"), slowOffers("any"); fast != 0 || printed == 0 {
		t.Errorf("%d and %d offers of a slow configuration", fast, printed)
	}
}

// §6.2: an item that can never run does not delay others by a moment.
func TestHeadOfLine(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		s := admissiontest.Random(seed)
		without := admissiontest.Play(t, lookup(t, "arq"), s)
		jobs := slices.Clone(s.Jobs)
		for i := 0; i < 5; i++ {
			huge := s.Jobs[0]
			huge.Ask.Size = admissiontest.Cores(50)
			huge.Ask.Caused = slices.Repeat([]float64{float64(20 * i)}, len(s.Columns))
			jobs = append(jobs, huge)
		}
		s.Jobs = jobs
		with := admissiontest.Play(t, lookup(t, "arq"), s)
		for i, o := range without.Outcomes {
			if got := with.Outcomes[i]; got.At != o.At || got.Node != o.Node {
				t.Fatalf("seed %d: job %d: %+v beside impossible items, %+v without", seed, i, got, o)
			}
		}
	}
}

// §6.6: one class is the FIFO queue.
func TestOneClassIsFIFO(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		s := admissiontest.Random(seed)
		fifo := admissiontest.Play(t, lookup(t, "fifo"), s)
		s.Options.Classes = 1
		if arq := admissiontest.Play(t, lookup(t, "arq"), s); !slices.Equal(fifo.Log, arq.Log) {
			t.Fatalf("seed %d: one class and fifo differ", seed)
		}
	}
}

// cluster of one column: nodes that stand so much, with many cores.
func cluster(capabilities ...float64) admissiontest.Scenario {
	s := admissiontest.Scenario{Columns: []string{"a"}}
	for i, e := range capabilities {
		n := admissiontest.Node(fmt.Sprintf("n%d", i), 8)
		n.Capability = []float64{e}
		s.Nodes = append(s.Nodes, n)
	}
	return s
}

// job causes so much of one column, stands everything, and runs for an hour.
func job(at time.Duration, caused float64) admissiontest.Job {
	return admissiontest.Job{At: at, Duration: time.Hour, Ask: board.Request{
		Size: admissiontest.Cores(1), Tolerated: []float64{100}, Caused: []float64{caused}, Expected: time.Hour, SlowdownMax: 0.05,
	}}
}

// §6.3: an easy item takes a node of its own pool; where that has none it climbs,
// over pools that have none either, unless somebody waits there.
func TestBypassUp(t *testing.T) {
	t.Parallel()
	s := cluster(95, 35)
	s.Jobs = []admissiontest.Job{job(0, 32), job(time.Second, 5)}
	s.Jobs[0].Ask.Tolerated = []float64{3}
	r := admissiontest.Play(t, lookup(t, "arq"), s)
	if r.Outcomes[0].Node != 1 || r.Outcomes[0].At != 0 {
		t.Errorf("an item of class 3 beside pools 3 and 9: %+v", r.Outcomes[0])
	}
	// Node 1 stands 3 now, which is not enough; class 0 climbs from pool 0 to pool 9.
	if r.Outcomes[1].Node != 0 || r.Outcomes[1].At != time.Second {
		t.Errorf("an easy item, all but the top pool empty: %+v", r.Outcomes[1])
	}

	// Somebody of class 6 waits, whom node 0 would harm: class 0 may not pass.
	s = cluster(95)
	first, waits, easy := job(0, 20), job(time.Second, 65), job(2*time.Second, 2)
	first.Duration = 100 * time.Second
	waits.Ask.Tolerated = []float64{10}
	s.Jobs = []admissiontest.Job{first, waits, easy}
	r = admissiontest.Play(t, lookup(t, "arq"), s)
	if o := r.Outcomes[2]; o.At < 100*time.Second && !o.Forced {
		t.Errorf("an easy item passed a queue with somebody in it: %+v", o)
	}
	report := r.Controller.(admission.Reporter).Report()
	if report.Classes[6].Arrived != 1 || report.Classes[0].Arrived != 1 || report.Classes[0].Placed != 1 {
		t.Errorf("report %+v", report)
	}
}

// §6.7: the shortest first, but nobody loses its window to shorter ones.
func TestShortestFirst(t *testing.T) {
	t.Parallel()
	s := cluster(95)
	s.Nodes[0].Total = admissiontest.Cores(1)
	s.Options.Values = map[string]string{"order": "sjf"}
	long := job(time.Second, 10)
	long.Ask.Expected = 10 * time.Hour // a window of 30 minutes
	s.Jobs = []admissiontest.Job{job(0, 10), long}
	s.Jobs[0].Duration = time.Minute
	for i := range 40 {
		short := job(2*time.Second+time.Duration(i)*time.Minute, 10)
		short.Duration = time.Minute
		s.Jobs = append(s.Jobs, short)
	}
	r := admissiontest.Play(t, lookup(t, "arq"), s)
	if at := r.Outcomes[1].At; at < 20*time.Minute || at > 30*time.Minute {
		t.Errorf("the long item is placed at %v, of a window of 30 minutes", at)
	}
	if at := r.Outcomes[2].At; at != time.Minute {
		t.Errorf("the first short one is placed at %v", at)
	}
}

// §6.7: high priority goes first, in its class and on a freed node.
func TestPriorities(t *testing.T) {
	t.Parallel()
	s := cluster(95)
	s.Nodes[0].Total = admissiontest.Cores(1)
	s.Options.Values = map[string]string{"priorities": "yes"}
	s.Jobs = []admissiontest.Job{job(0, 10), job(time.Second, 10), job(2*time.Second, 25), job(3*time.Second, 10)}
	for i := range s.Jobs {
		s.Jobs[i].Duration = 20 * time.Second
	}
	s.Jobs[3].Ask.Priority = 90
	r := admissiontest.Play(t, lookup(t, "arq"), s)
	if at := r.Outcomes[3].At; at != 20*time.Second {
		t.Errorf("the important one is placed at %v, the node was free at 20s", at)
	}
	s.Options.Values = nil
	r = admissiontest.Play(t, lookup(t, "arq"), s)
	if at := r.Outcomes[3].At; at != time.Minute {
		t.Errorf("without priorities it is placed at %v", at)
	}
}

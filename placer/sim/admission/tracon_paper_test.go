package admission_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission/admissiontest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// kindOfTask is heavy (1) or light (2) on the disk; the one column says who is beside.
type kindOfTask float64

const (
	heavy kindOfTask = 1
	light kindOfTask = 2
)

// Runtime: heavy alone 30, beside heavy 100, beside light 40; light 10, 15 and 12.
func (k kindOfTask) Runtime(others []float64) float64 {
	by := map[kindOfTask]map[float64]float64{heavy: {0: 30, 1: 100, 2: 40}, light: {0: 10, 1: 15, 2: 12}}
	return by[k][others[0]]
}

func (k kindOfTask) IOPS([]float64) float64 { return 0 }

// totalOf plays a queue of tasks on two machines of two slots, and adds up the runtimes
// that everybody has in the end.
func totalOf(t *testing.T, controller, mode string, tasks ...kindOfTask) float64 {
	t.Helper()
	b := board.New([]interference.Source{"kind"}, []string{"one"})
	for _, name := range []string{"m1", "m2"} {
		b.Add(admissiontest.Node(name, 2))
	}
	d, err := admission.Lookup(controller)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.New(b, admission.Options{Values: map[string]string{"queue": "4", "mode": mode}}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range tasks {
		ask := &board.Request{Handle: board.Handle(i + 1), Size: admissiontest.Cores(1), Count: 1, Tolerated: []float64{100}, Caused: []float64{float64(k)}, Response: k}
		c.Arrive(time.Duration(i), admission.Item{Ask: ask, Arrived: time.Duration(i), Ready: time.Duration(i)})
	}
	for a, ok := c.Next(10); ok; a, ok = c.Next(10) {
		for n := range board.Index(2) {
			if a.Within(n) {
				b.Place(n, board.Resident{Handle: a.Item.Ask.Handle, Size: a.Item.Ask.Size, Tolerated: a.Item.Ask.Tolerated, Caused: a.Item.Ask.Caused, Response: a.Item.Ask.Response})
			}
		}
		c.Placed(10, a.Item.Ask.Handle)
	}
	if c.Waiting() != 0 {
		t.Fatalf("%s %s: %d wait in an empty cluster with a full queue", controller, mode, c.Waiting())
	}
	total := 0.0
	for n := range board.Index(2) {
		for _, r := range b.Residents(n) {
			total += r.Response.Runtime([]float64{b.Caused(n)[0] - r.Caused[0]})
		}
	}
	return total
}

// §3.2, algorithm 2, on two machines: of H, H, L, L the printed algorithm makes 110, the
// best there is; of L, L, H, H it does too, where pairing from the head makes 224;
// trying every head (MIX) finds 110 again, as does the best pairing of the queue.
func TestMIBSAndMIXOnFourTasks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		controller, mode string
		tasks            []kindOfTask
		want             float64
	}{
		{"mibs", "alg2", []kindOfTask{heavy, heavy, light, light}, 110},
		{"mibs", "alg2", []kindOfTask{light, light, heavy, heavy}, 110},
		{"mibs", "paired", []kindOfTask{light, light, heavy, heavy}, 224},
		{"mibs", "paired", []kindOfTask{heavy, heavy, light, light}, 110},
		{"mix", "paired", []kindOfTask{light, light, heavy, heavy}, 110},
		{"mibs", "best", []kindOfTask{light, light, heavy, heavy}, 110},
		{"mibs", "best", []kindOfTask{heavy, heavy, light, light}, 110},
	} {
		if got := totalOf(t, c.controller, c.mode, c.tasks...); got != c.want {
			t.Errorf("%s %s of %v: %v, want %v", c.controller, c.mode, c.tasks, got, c.want)
		}
	}
}

// §4.1: a queue is assigned when it is full, and one that is not after the flush.
func TestQueueWaitsUntilFullOrFlushed(t *testing.T) {
	t.Parallel()
	one := admissiontest.Job{Duration: time.Minute, Ask: board.Request{Size: admissiontest.Cores(1), Count: 1, Tolerated: []float64{100}, Caused: []float64{1}}}
	later := one
	later.At = 10 * time.Second
	s := admissiontest.Scenario{
		Columns: []string{"a"}, Nodes: []board.Node{admissiontest.Node("m1", 4)}, Jobs: []admissiontest.Job{one, later},
		Options: admission.Options{Values: map[string]string{"queue": "2"}},
	}
	if got := admissiontest.Play(t, lookup(t, "mibs"), s).Outcomes; got[0].At != later.At || got[1].At != later.At {
		t.Errorf("a queue of two was assigned at %v and %v", got[0].At, got[1].At)
	}
	s.Options.Values["queue"] = "3"
	if got := admissiontest.Play(t, lookup(t, "mibs"), s).Outcomes; got[0].At != 30*time.Second {
		t.Errorf("a queue that is not full was assigned at %v", got[0].At)
	}
}

// A group goes wherever it finds room, and one that finds none is
// not tried again before a node gains some. The paper has no groups.
func TestAGroupThatStartsTogether(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mibs", "mix"} {
		b := board.New([]interference.Source{"kind"}, []string{"one"})
		for _, node := range []string{"m1", "m2"} {
			b.Add(admissiontest.Node(node, 2))
		}
		c, err := lookup(t, name).New(b, admission.Options{Values: map[string]string{"queue": "1"}}, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		arrive := func(handle board.Handle, count int) {
			c.Arrive(0, admission.Item{Ask: &board.Request{
				Handle: handle, Size: admissiontest.Cores(1), Count: count, Gang: true, Tolerated: []float64{100}, Caused: []float64{1},
			}})
		}
		next := func(want board.Handle) {
			t.Helper()
			a, ok := c.Next(0)
			if !ok || a.Item.Ask.Handle != want || a.Within != nil {
				t.Fatalf("%s: attempt %+v, %v, want one of job %d on any node", name, a, ok, want)
			}
		}
		arrive(1, 5) // of four cores
		next(1)
		c.Refused(0, 1)
		none := func() {
			t.Helper()
			if a, ok := c.Next(0); ok {
				t.Errorf("%s: job %d is tried again", name, a.Item.Ask.Handle)
			}
		}
		none()
		arrive(2, 3)
		next(2)
		for i, n := range []board.Index{0, 0, 1} {
			b.Place(n, board.Resident{Handle: board.Handle(10 + i), Size: admissiontest.Cores(1), Tolerated: []float64{100}, Caused: []float64{1}})
		}
		c.Placed(0, 2)
		none()
		if err := b.Remove(0, 10); err != nil {
			t.Fatal(err)
		}
		next(1)
	}
}

package ibench

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestInterconnectNeedsTwoCPUs(t *testing.T) {
	t.Parallel()
	_, err := newInterconnect(t.Context(), Setup{CPUs: []int{3}})
	if err == nil || !strings.Contains(err.Error(), "may use CPU 3 only") {
		t.Errorf("one CPU: %v", err)
	}
	if err := interconnect.Supported(Machine{CPUs: make([]CPU, 1)}); err == nil {
		t.Error("supported with one CPU")
	}
	if err := interconnect.Supported(Machine{CPUs: make([]CPU, 2)}); err != nil {
		t.Error(err)
	}
}

// A box takes batches as long as it has room, and each is answered once.
func TestMailbox(t *testing.T) {
	t.Parallel()
	const batch = 8
	slots := make([]mailSlot, mailBatches*batch)
	sender, receiver := mailbox{slots: slots, batch: batch}, mailbox{slots: slots, batch: batch}
	if receiver.answer() != 0 {
		t.Error("an answer to no message")
	}
	for range 3 {
		for range mailBatches {
			if n := sender.send(); n != batch {
				t.Errorf("%d messages of a batch of %d went out", n, batch)
			}
		}
		if sender.send() != 0 {
			t.Error("a full box takes more")
		}
		for range mailBatches {
			if n := receiver.answer(); n != batch {
				t.Errorf("%d messages of a batch of %d were answered", n, batch)
			}
		}
		if receiver.answer() != 0 {
			t.Error("a second answer")
		}
	}
	// A batch whose last message is not there yet is left alone.
	slots[0].sent++
	if receiver.answer() != 0 || slots[0].received != 3 {
		t.Error("half a batch was answered")
	}
}

// The number of receivers grows from one to all others (Delimitrou 2015,
// §5.3, SoI14).
func TestFanOutGrows(t *testing.T) {
	t.Parallel()
	const peers = 6
	p, err := newPost(peers)
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(p.region)
	m := newMessenger(p, 0)
	for u, want := range map[float64]int{0: 1, 0.1: 1, 0.25: 2, 0.5: 3, 1: peers - 1} {
		if pace := m.Tune(u, 100); m.fan != want || !pace.Aligned {
			t.Errorf("at %v: %d receivers, want %d; %+v", u, m.fan, want, pace)
		}
	}
}

// Every message sent is answered, between any number of threads.
func TestMessengersMoveLines(t *testing.T) {
	t.Parallel()
	for _, peers := range []int{2, 3, 5} {
		p, err := newPost(peers)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var still atomic.Int32 // that have moved nothing yet
		still.Store(int32(peers))
		moved := make([]float64, peers)
		deadline := time.Now().Add(time.Minute)
		for i := range peers {
			all.Go(func() {
				m := newMessenger(p, i)
				m.Tune(1, 0)
				// Those that have no CPU meanwhile are waited for.
				for round := 0; round < 200 || still.Load() > 0 && time.Now().Before(deadline); round++ {
					n, err := m.Work(64)
					if err != nil {
						t.Error(err)
						return
					}
					if moved[i] == 0 && n > 0 {
						still.Add(-1)
					}
					moved[i] += n
				}
			})
		}
		all.Wait()
		for i, n := range moved {
			if n <= 0 {
				t.Errorf("thread %d of %d moved nothing", i, peers)
			}
		}
		for from := range peers {
			for to := range peers {
				for i, s := range p.box(from, to).slots {
					if s.sent < s.received || s.sent > s.received+1 {
						t.Fatalf("box %d-%d slot %d: sent %d, received %d", from, to, i, s.sent, s.received)
					}
				}
			}
		}
		closeQuietly(p.region)
	}
}

func TestInterconnectInAProcess(t *testing.T) {
	t.Parallel()
	cpus, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < 2 {
		t.Skip("the test may use one CPU only")
	}
	spec := testSpec(t, interference.Interconnect)
	spec.CPUs, spec.Stderr = cpus[:1], nil
	if p, err := Start(t.Context(), spec); err == nil {
		p.Close()
		t.Error("it started on one CPU")
	} else if !strings.Contains(err.Error(), "needs two") {
		t.Error(err)
	}
}

package ibench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// mailSlots is how many messages of one sender may be under way at once. With
// mailSlotBytes each, its boxes take 16 KiB: both directions of a pair stay in
// the private caches, so that what moves is moved between cores.
const mailSlots = 128

// mailSlotBytes is two lines: fetching one often brings the next as well,
// which would belong to another message.
const mailSlotBytes = 2 * defaultLineBytes

// mailBatches is the number of batches a box is divided into. A side takes a
// batch once its last message is there, and all of it at once: then the moves of
// its lines overlap. A side that took single messages would sooner or later
// follow the other at a distance of one, and wait for every line: a quarter of
// the rate, for as long as it lasts (measured). With fewer batches both wait for
// each other.
const mailBatches = 4

// mailQuantum is how many lines are moved between two looks at the clock: some
// tens of microseconds.
const mailQuantum = 2048

// mailPatience bounds the wait for a peer. Peers begin their windows at the
// same moments, but one may be late by a wake-up, which takes 60 to 90
// microseconds on a virtual machine: who gives up before loses the window, and so
// does the other. A longer wait would put pressure on the CPU.
const mailPatience = 150 * time.Microsecond

// mailSlot carries one message at a time: the sender writes its number, the
// receiver answers with the same number in the same line. So the line moves to
// the receiver and back. Both words are read atomically, but written with
// plain stores: an atomic one waits until the line has come before the next may
// be asked for, and the lines of a batch are to move at once. Each word has one
// writer and orders nothing but itself.
type mailSlot struct {
	sent     uint64
	received uint64
	_        [mailSlotBytes - 16]byte
}

// waits reports whether there is a message that waits for its answer.
func (s *mailSlot) waits() bool {
	return atomic.LoadUint64(&s.sent) != atomic.LoadUint64(&s.received)
}

func (s *mailSlot) answer() { s.received = atomic.LoadUint64(&s.sent) }

// send puts the next message into the slot, whose last one is answered.
func (s *mailSlot) send() { s.sent = atomic.LoadUint64(&s.received) + 1 }

// mailbox carries messages from one thread to another. Each side goes round it
// at its own place, a batch at a time.
type mailbox struct {
	slots []mailSlot
	batch int
	at    int // first slot of the next batch
}

// due is the batch that is next.
func (b *mailbox) due() []mailSlot { return b.slots[b.at : b.at+b.batch] }

// done goes on to the batch after, and returns the size of the last.
func (b *mailbox) done() int {
	if b.at += b.batch; b.at == len(b.slots) {
		b.at = 0
	}
	return b.batch
}

// answer answers a batch of messages, once all of it is there, and returns how
// many.
func (b *mailbox) answer() int {
	batch := b.due()
	if !batch[len(batch)-1].waits() {
		return 0
	}
	for i := range batch {
		batch[i].answer()
	}
	return b.done()
}

// send sends a batch, once the one before it in the same slots is answered.
func (b *mailbox) send() int {
	batch := b.due()
	if batch[len(batch)-1].waits() {
		return 0
	}
	for i := range batch {
		batch[i].send()
	}
	return b.done()
}

// post holds a box for every ordered pair of threads.
type post struct {
	region *region
	peers  int
	slots  int // per box
}

func newPost(peers int) (*post, error) {
	slots := max(mailSlots/(peers-1)/mailBatches, 1) * mailBatches
	r, err := newRegion(int64(peers*peers*slots)*mailSlotBytes, false)
	if err != nil {
		return nil, err
	}
	clear(r.data)
	return &post{region: r, peers: peers, slots: slots}, nil
}

// box is one side's view of a box.
func (p *post) box(from, to int) mailbox {
	first := (*mailSlot)(unsafe.Add(p.region.base(), (from*p.peers+to)*p.slots*mailSlotBytes))
	return mailbox{slots: unsafe.Slice(first, p.slots), batch: p.slots / mailBatches}
}

func newInterconnect(_ context.Context, s Setup) (*Load, error) {
	threads := len(s.CPUs)
	if threads < 2 {
		return nil, fmt.Errorf("messages go between CPUs: needs two at least, and may use CPU %s only", FormatCPUList(s.CPUs))
	}
	post, err := newPost(threads)
	if err != nil {
		return nil, err
	}
	load := &Load{
		Threads:       threads,
		Worker:        func(thread int) (Worker, error) { return newMessenger(post, thread), nil },
		ResidentBytes: func() int64 { return int64(len(post.region.data)) },
		Close:         post.region.Close,
	}
	if threads == 2 {
		load.Notes = []string{"two CPUs: a single pair of threads sends messages to and fro"}
	}
	return load, nil
}

// messenger is one thread: it sends to those after it, and answers all others.
type messenger struct {
	out []mailbox // by distance to the receiver, nearest first
	in  []mailbox
	fan int // receivers in use
	// took is how long the last quantum took until the last line came: waiting
	// for a peer that does not run says nothing of the lines' speed.
	took time.Duration
}

func newMessenger(p *post, self int) *messenger {
	m := &messenger{fan: 1}
	for d := 1; d < p.peers; d++ {
		other := (self + d) % p.peers
		m.out = append(m.out, p.box(self, other))
		m.in = append(m.in, p.box(other, self))
	}
	return m
}

// Tune keeps a share of the peak, to receivers whose number grows with it: one
// at first, all others at the top (Delimitrou 2015, §5.3, SoI14).
func (m *messenger) Tune(u, peakPerThread float64) Pace {
	m.fan = 1 + int(math.Round(u*float64(len(m.out)-1)))
	p := ratePace(u, peakPerThread)
	p.Aligned = true
	return p
}

// Work answers and sends; an operation is a line that came from another core.
// Where there is nothing to do it waits a moment for the peers.
func (m *messenger) Work(maxOps float64) (float64, error) {
	wanted := int(min(mailQuantum, math.Ceil(maxOps)))
	begin, moved := time.Now(), 0
	quiet := time.Duration(-1) // since when nothing comes; negative while something does
	for moved < wanted {
		n := m.round()
		if moved += n; n > 0 {
			quiet = -1
			continue
		}
		now := time.Since(begin)
		if quiet < 0 {
			quiet = now
		}
		if now-quiet > mailPatience {
			break
		}
	}
	m.took = quiet
	if quiet < 0 {
		m.took = time.Since(begin)
	}
	return float64(moved), nil
}

// Took is how long lines came in the last quantum.
func (m *messenger) Took() time.Duration { return m.took }

// round looks at every box once.
func (m *messenger) round() int {
	moved := 0
	for i := range m.in {
		moved += m.in[i].answer()
	}
	for i := range m.fan {
		moved += m.out[i].send()
	}
	return moved
}

// Close has nothing to free: the boxes belong to the load.
func (m *messenger) Close() error { return nil }

var interconnect = Descriptor{
	Source:  interference.Interconnect,
	Knob:    Rate,
	Means:   "share of the rate at which the kernel's CPUs can pass cache lines to each other; the number of receivers per sender grows with it",
	Loads:   "coherence traffic between cores; CPU time where it shares the workload's CPUs",
	Spares:  "shared caches and memory: the lines fit into the cores' own caches",
	Unit:    "lines",
	Dwell:   levelDwell,
	Shares:  2,
	CPUsMin: 2,
	Supported: func(m Machine) error {
		if len(m.CPUs) < 2 {
			return errors.New("messages go between CPUs, and the machine has one")
		}
		return nil
	},
	New: newInterconnect,
}

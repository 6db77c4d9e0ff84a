package ibench

import (
	"math"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// How the tempo of the cores is taken, chosen by us: a chain of dependent
// multiplications takes a fixed number of cycles, so its speed is the clock's.
// Of a few the fastest counts, as the others were interrupted. All of it is half a
// percent of one CPU. The cores of a package share their power, so their clocks go up
// and down together, more or less (BenchmarkTempo), and it does not matter much on
// which it is taken.
const (
	tempoEvery  = 5 * time.Millisecond
	tempoChain  = 3000 // multiplications, about 4 µs
	tempoChains = 4
	tempoKept   = 4096 // beats: 20 s
	// tempoNice is the priority of its thread where it may not be real-time.
	tempoNice = -20
	// tempoSparse: a window with fewer than one beat in so many intervals has none.
	tempoSparse = 4
)

// Tempo is a running measurement of how fast the cores are clocked.
type Tempo struct {
	stop chan struct{}
	done chan struct{}
	// chain is the last product: it keeps the compiler from leaving the work out.
	chain uint64

	mu    sync.Mutex
	beats [tempoKept]tempoBeat
	n     int // beats so far; the last is at (n-1) % tempoKept
}

// tempoBeat is one look at the clock of the cores.
type tempoBeat struct {
	at    time.Time
	speed float64 // multiplications per second
}

// StartTempo starts it on any CPU this process may use.
func StartTempo() *Tempo {
	t := &Tempo{stop: make(chan struct{}), done: make(chan struct{})}
	go t.run()
	return t
}

// Close ends it.
func (t *Tempo) Close() error {
	close(t.stop)
	<-t.done
	return nil
}

func (t *Tempo) run() {
	defer close(t.done)
	runtime.LockOSThread() // for good: its priority is not one for other goroutines
	urgent()
	ticker := time.NewTicker(tempoEvery)
	defer ticker.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-ticker.C:
		}
		t.add(tempoBeat{time.Now(), t.chainSpeed()})
	}
}

// urgent lets the thread run when it wants to, on a busy CPU too. Where neither way
// is allowed beats come late, and the fastest chain is still a whole one.
func urgent() {
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0); err != nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), tempoNice)
	}
}

// chainSpeed is that of the fastest of some chains.
func (t *Tempo) chainSpeed() float64 {
	best := math.Inf(1)
	for range tempoChains {
		begun := time.Now()
		t.chain = multiply(t.chain)
		best = min(best, time.Since(begun).Seconds())
	}
	return tempoChain / best
}

// multiply is a chain of multiplications (the constants are those of Knuth 1997,
// §3.3.4, line 26); each needs the one before.
func multiply(x uint64) uint64 {
	for range tempoChain {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func (t *Tempo) add(b tempoBeat) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.beats[t.n%tempoKept] = b
	t.n++
}

// Mean is the mean speed between two moments, in multiplications per second; NaN
// where there were too few beats, or it is too long ago.
func (t *Tempo) Mean(from, to time.Time) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum, n := 0.0, 0
	for i := t.n - 1; i >= max(0, t.n-tempoKept); i-- {
		b := t.beats[i%tempoKept]
		if b.at.Before(from) {
			break
		}
		if !b.at.After(to) {
			sum += b.speed
			n++
		}
	}
	if n == 0 || n*tempoSparse < int(to.Sub(from)/tempoEvery) {
		return math.NaN()
	}
	return sum / float64(n)
}

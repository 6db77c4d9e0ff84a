package generate

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// places finds where in a state an I/O begins.
type places struct {
	device model.Device
	levels int
	begins []int64 // of the states of the last level, and of the end
}

func newPlaces(d model.Device, levels int) places {
	p := places{device: d, levels: levels, begins: make([]int64, model.States(levels)+1)}
	for i := range p.begins {
		p.begins[i] = d.Begin(i, levels)
	}
	return p
}

// place is the first byte of an I/O in a state. One that is sequential begins where the
// thread's last one ended, if that is in the state, or not further off than what is near; in a
// state that is entered it begins at the first byte else, as a run does that goes over the
// border. A near-sequential one is anywhere within storage.NearBytes of the last one's end, over a
// border, too; a random one anywhere in the state. Runs that could not go on over borders would
// be random at each, and states of deep diagrams are small (decision 0061).
func (p *places) place(state int, c model.Category, end int64, entered bool, rng *rand.Rand) int64 {
	begin, behind := p.begins[state], p.begins[state+1]
	near := func(at int64) bool { return at >= max(0, begin-storage.NearBytes) && at < behind+storage.NearBytes }
	at := int64(-1)
	switch c.Kind {
	case storage.Sequential:
		at = end
		if entered && !near(at) {
			at = p.aligned(begin)
		}
	case storage.NearSequential:
		step := p.device.SectorBytes
		at = end + step*(1+rng.Int64N(max(storage.NearBytes/step, 1)))
	case storage.Random:
	}
	if near(at) && at+c.Bytes <= p.device.Bytes {
		return at
	}
	return p.anywhere(begin, behind, c.Bytes, end, rng)
}

// aligned is the first sector from a byte on.
func (p *places) aligned(at int64) int64 {
	s := p.device.SectorBytes
	return (at + s - 1) / s * s
}

// anywhere is a random sector of a range, so that the I/O ends in it where it can, and is
// not sequential.
func (p *places) anywhere(begin, behind, bytes, end int64, rng *rand.Rand) int64 {
	first := p.aligned(begin)
	last := min(max(behind-bytes, first), p.device.Bytes-bytes)
	if first >= behind || last < first {
		return max(0, min(begin, p.device.Bytes-bytes))
	}
	at := first + rng.Int64N((last-first)/p.device.SectorBytes+1)*p.device.SectorBytes
	if storage.KindAfter(end, at) != storage.Random && last > first {
		// Once more: by chance it would be of another kind.
		at = first + rng.Int64N((last-first)/p.device.SectorBytes+1)*p.device.SectorBytes
	}
	return at
}

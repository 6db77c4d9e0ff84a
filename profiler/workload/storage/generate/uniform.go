package generate

import (
	"io"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// Uniform generates I/Os without locality, as the tools do that the text compares with
// (§A.2, Table A.5): the directions, sizes and sequentiality of a model, addresses anywhere
// on the device, one rate, and exponential gaps. It is a storage.Reader.
type Uniform struct {
	model      *model.Model
	options    Options
	rng        *rand.Rand
	categories *urn
	places     places
	gap        model.Gap
	at         time.Duration
	end        int64
	ios        int64
}

// NewUniform starts a stream. Without a number of I/Os it has those of the model.
func NewUniform(m *model.Model, o Options) (*Uniform, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if o.IOs == 0 {
		o.IOs = max(1, int64(float64(m.IOs())/o.Intensity/o.Compression))
	}
	counts := make([]int64, len(m.Categories))
	for i := range m.Types {
		for _, x := range m.Types[i].Transitions {
			counts[x.Category] += x.IOs
		}
	}
	var shares []share
	for i, n := range counts {
		if n > 0 {
			shares = append(shares, share{int32(i), n})
		}
	}
	mean := m.Capture.Seconds / float64(m.IOs()) * o.Intensity
	return &Uniform{
		model: m, options: o, rng: rand.New(rand.NewPCG(o.Seed, 0)), categories: newUrn(shares), places: newPlaces(m.Device, 0),
		gap: model.Gap{Family: model.Exponential, MeanMicroseconds: mean * 1e6, Variation: 1}, end: -1 << 40,
	}, nil
}

// Next fills the next I/O; io.EOF after the last.
func (u *Uniform) Next(r *storage.Record) error {
	if u.ios == u.options.IOs {
		return io.EOF
	}
	u.ios++
	c := u.model.Categories[u.categories.draw(u.rng)]
	u.at += time.Duration(drawGap(u.gap, u.gap, u.options.Family, u.rng) * float64(time.Microsecond))
	*r = storage.Record{At: u.at, Offset: u.places.place(0, c, u.end, false, u.rng), Bytes: c.Bytes, Op: c.Op}
	u.end = r.End()
	return nil
}

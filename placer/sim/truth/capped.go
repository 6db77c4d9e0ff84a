package truth

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// Capped is a world of tasks bound by cpu that hold caps, in which co-runners take a
// share of what a cap allows: the evaluation of PP-RTTE. The slowdown of a task is
//
//	β = clip(Mean·n/At + Deviation·z, 0, Most)
//
// for n co-runners and a z of its own, drawn once from a normal distribution.
type Capped struct {
	Interference Interference
	Seed         uint64
}

// Interference is how tasks slow each other down.
type Interference struct {
	Mean      float64 // with At co-runners
	At        float64
	Deviation float64
	Most      float64
}

// PaperInterference is the generator that takes the place of that of the text, which states
// only its amplitude, 0 to about 50 %, and that it depends on the number of co-hosted
// tasks and a normal value. At and Deviation were fitted to what it publishes of the
// two baselines that do not react (12.25 % and 37.43 % of the jobs on time), and then
// frozen, before PP-RTTE was run for the first time.
var PaperInterference = Interference{Mean: 0.11, At: 17.5, Deviation: 0.145, Most: 0.5}

var _ World = (*Capped)(nil)

// NewTask is an application of one task that can use so many cores.
func NewTask(name string, cores, memoryMB float64) *Application {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return &Application{
		Name: name, Class: "capped", Unit: "cores", Cores: cores, MemoryMB: memoryMB, Isolated: []float64{cores}, Out: ScaleOut{},
		Phases: []Phase{{Share: 1, MemoryMB: memoryMB, Intensity: 1}}, Origin: "drawn", id: h.Sum64(),
	}
}

// Slowdown of a task next to co-runners.
func (c *Capped) Slowdown(a *Application, number int32, coRunners int) float64 {
	i := c.Interference
	if !(i.At > 0) {
		return 0
	}
	return min(i.Most, max(0, i.Mean*float64(coRunners)/i.At+i.Deviation*c.draw(a, number)))
}

// draw is the task's own normal value.
func (c *Capped) draw(a *Application, number int32) float64 {
	h := fnv.New64a()
	var text [12]byte
	binary.LittleEndian.PutUint64(text[:], a.id)
	binary.LittleEndian.PutUint32(text[8:], uint32(number))
	_, _ = h.Write(text[:])
	return rand.New(rand.NewPCG(c.Seed, h.Sum64())).NormFloat64()
}

// Speeds implements World: a task gets its cap less its slowdown, and never more than
// it can use.
func (c *Capped) Speeds(_ int, on []Placed, out []Speed) []Speed {
	out = out[:0]
	for i := range on {
		p := &on[i]
		beta := c.Slowdown(p.Application, p.Number, len(on)-1)
		value := min(p.Application.Cores, p.Cores/(1+beta))
		out = append(out, Speed{Value: value, Isolated: value * (1 + beta)})
	}
	return out
}

// Group implements World: tasks do not work together.
func (c *Capped) Group(*Application, int) float64 { return 1 }

// Measure implements World: nothing is profiled here.
func (c *Capped) Measure(*Application, float64, float64, *rand.Rand) float64 { return math.NaN() }

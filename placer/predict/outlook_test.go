package predict_test

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
)

const bound = 0.05

func resident(tolerated, caused float64) board.Resident {
	return board.Resident{Tolerated: []float64{tolerated, 100}, Caused: []float64{caused, 0}}
}

// lost sums what residents lose by a newcomer.
func lost(o *predict.Outlook, newcomer *board.Resident, worth func(r *board.Resident, kept float64) float64) float64 {
	sum := 0.0
	o.Changes(newcomer, func(r *board.Resident, without, with float64) { sum += max(0, worth(r, without)-worth(r, with)) })
	return sum
}

func TestPressuresOfCoRunnersSaturate(t *testing.T) {
	t.Parallel()
	o := predict.NewOutlook(bound, predict.Traits{})
	newcomer := resident(20, 0)
	o.Among(nil, 2, predict.Host{})
	if got := o.Kept(&newcomer); got != 1 {
		t.Errorf("in isolation it keeps %v", got)
	}
	o.Among([]board.Resident{resident(100, 50), resident(100, 50)}, 2, predict.Host{})
	want := predict.Kept(newcomer.Tolerated, []float64{75, 0}, bound)
	if got := o.Kept(&newcomer); math.Abs(got-want) > 1e-9 {
		t.Errorf("two that each leave half: it keeps %v, not %v", got, want)
	}
}

func TestWhatResidentsLose(t *testing.T) {
	t.Parallel()
	o := predict.NewOutlook(bound, predict.Traits{})
	kept := func(_ *board.Resident, kept float64) float64 { return kept }
	o.Among([]board.Resident{resident(10, 90), resident(100, 0)}, 2, predict.Host{})
	if got := lost(o, &board.Resident{Caused: []float64{0, 0}}, kept); got != 0 {
		t.Errorf("who causes nothing costs %v", got)
	}
	newcomer := resident(100, 60)
	alone, among := predict.Kept([]float64{10, 100}, []float64{0, 0}, bound), predict.Kept([]float64{10, 100}, []float64{60, 0}, bound)
	withOther := predict.Kept([]float64{100, 100}, []float64{90, 0}, bound) - predict.Kept([]float64{100, 100}, []float64{96, 0}, bound)
	if got, want := lost(o, &newcomer, kept), alone-among+withOther; math.Abs(got-want) > 1e-9 {
		t.Errorf("they lose %v, not %v: none of them presses on itself", got, want)
	}
}

// Who would lose, most first, and by which source; with a target it is a share of that.
func TestWhoLosesWhat(t *testing.T) {
	t.Parallel()
	o := predict.NewOutlook(bound, predict.Traits{})
	robust, sensitive, served := resident(100, 0), resident(10, 0), resident(10, 0)
	robust.Handle, sensitive.Handle, served.Handle = 1, 2, 3
	half := 0.5
	served.RequiredFraction = &half // what is tolerated is meant at half of its performance
	newcomer := resident(100, 60)
	o.Among([]board.Resident{robust, served, sensitive}, 2, predict.Host{})
	losses := o.Losses(&newcomer)
	sum := 0.0
	for _, l := range losses {
		sum += l.Share
		if l.Column != 0 {
			t.Errorf("%d would lose by column %d", l.Resident, l.Column)
		}
	}
	if len(losses) != 3 || losses[0].Resident != 2 || losses[1].Resident != 3 || losses[2].Resident != 1 {
		t.Errorf("losses %+v", losses)
	}
	if want := o.Worth(predict.Newcomer{Resident: newcomer, Curve: newcomer.Tolerated}).Lost; math.Abs(sum-want) > 1e-9 {
		t.Errorf("%v in all, %v by worth", sum, want)
	}
}

// Of a bound on a percentile what counts is the chance to keep it: even where as many are late as
// may be, and little beyond, however much of its speed is left.
func TestABoundOnALatencyIsKeptOrMissed(t *testing.T) {
	t.Parallel()
	o := predict.NewOutlook(bound, predict.Traits{})
	service := resident(20, 0)
	service.LateShare, service.RequiredFraction = 0.01, new(0.5)
	for _, c := range []struct{ pressure, low, high float64 }{{0, 1, 1}, {10, 0.85, 0.97}, {20, 0.49, 0.51}, {60, 0, 0.05}} {
		o.Among([]board.Resident{resident(100, c.pressure)}, 2, predict.Host{})
		w := o.Worth(predict.Newcomer{Resident: service, Curve: []float64{45, 100}, Speed: 100, Top: 100, Target: 50})
		if w.Reached < c.low-1e-6 || w.Reached > c.high+1e-6 {
			t.Errorf("under %g it is kept with a chance of %v, want %g to %g", c.pressure, w.Reached, c.low, c.high)
		}
		o.Among([]board.Resident{service}, 2, predict.Host{})
		losses := o.Losses(&board.Resident{Caused: []float64{c.pressure, 0}, Tolerated: []float64{100, 100}})
		switch {
		case c.pressure == 0 && len(losses) > 0:
			t.Errorf("no pressure costs %+v", losses)
		case c.pressure > 0 && (len(losses) != 1 || !losses[0].Chance || math.Abs(losses[0].Share+w.Reached-1) > 1e-6):
			t.Errorf("as a resident it loses %+v, as a newcomer it keeps %v", losses, w.Reached)
		}
	}
}

func TestTargetShare(t *testing.T) {
	t.Parallel()
	for ratio, want := range map[float64]float64{0: 0, -1: 0, math.NaN(): 0, 0.5: 0.5, 1: 0.96, 2: 1, math.Inf(1): 1} {
		if got := predict.TargetShare(ratio); math.Abs(got-want) > 0.001 {
			t.Errorf("%v of the target predicted: %v, not %v", ratio, got, want)
		}
	}
}

func TestWorth(t *testing.T) {
	t.Parallel()
	half := 0.5
	claim := predict.Newcomer{Resident: resident(100, 80), Curve: []float64{100, 100}, Speed: 50, Top: 100}
	for name, c := range map[string]struct {
		change    func(*predict.Newcomer)
		residents []board.Resident
		want      float64
	}{
		"on a node of half the speed":            {func(*predict.Newcomer) {}, nil, 0.5},
		"where its target is half the speed":     {func(c *predict.Newcomer) { c.Target = 25 }, nil, 1},
		"nothing is known of speeds":             {func(c *predict.Newcomer) { c.Top, c.Speed = 0, math.NaN() }, nil, 1},
		"its speed there is not known":           {func(c *predict.Newcomer) { c.Speed = math.NaN() }, nil, 0.5},
		"a resident loses":                       {func(*predict.Newcomer) {}, []board.Resident{resident(0, 0)}, 0.5 - (1 - predict.Kept([]float64{0, 100}, []float64{80, 0}, bound))},
		"a resident loses more than its target":  {func(*predict.Newcomer) {}, []board.Resident{{Tolerated: []float64{40, 100}, Caused: []float64{0, 0}, RequiredFraction: &half}}, 0.5 - (1 - predict.TargetShare(predict.Kept([]float64{40, 100}, []float64{80, 0}, half)/half))},
		"a resident loses, and keeps its target": {func(*predict.Newcomer) {}, []board.Resident{{Tolerated: []float64{100, 100}, Caused: []float64{0, 0}, RequiredFraction: &half}}, 0.5},
	} {
		o, own := predict.NewOutlook(bound, predict.Traits{}), claim
		c.change(&own)
		o.Among(c.residents, 2, predict.Host{})
		if got := o.Worth(own).Net(); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

// Two that each want all of the CPU time leave a third of it, where their pressures together
// would leave nothing.
func TestCPUTimeIsSharedFairly(t *testing.T) {
	t.Parallel()
	busy := resident(100, 100)
	newcomer := resident(0, 100)
	o := predict.NewOutlook(bound, predict.Traits{Shared: []bool{true, false}})
	o.Among([]board.Resident{busy, busy}, 2, predict.Host{})
	want := predict.Kept(newcomer.Tolerated, []float64{100. * 2 / 3, 0}, bound)
	if got := o.Kept(&newcomer); math.Abs(got-want) > 1e-9 {
		t.Errorf("it keeps %v, not %v", got, want)
	}
	took := func(r *board.Resident, kept float64) float64 { return kept }
	before, after := predict.Kept(busy.Tolerated, []float64{50, 0}, bound), predict.Kept(busy.Tolerated, []float64{100. * 2 / 3, 0}, bound)
	if got, want := lost(o, &newcomer, took), 2*(before-after); math.Abs(got-want) > 1e-9 {
		t.Errorf("they lose %v, not %v", got, want)
	}
}

// An allocation of which nothing is known keeps all, and costs nobody anything.
func TestOutlookOfTheUnknown(t *testing.T) {
	t.Parallel()
	for _, shared := range [][]bool{nil, {true, false}} {
		o := predict.NewOutlook(0.05, predict.Traits{Shared: shared})
		unknown := board.Resident{Handle: 2, Size: cluster.Resources{CPUMHz: 100}}
		known := board.Resident{Handle: 1, Size: cluster.Resources{CPUMHz: 100}, Tolerated: []float64{10, 10}, Caused: []float64{50, 50}}
		o.Among([]board.Resident{known, unknown}, 2, predict.Host{})
		if w := o.Worth(predict.Newcomer{Resident: unknown}); w.Net() != 1 || w.Kept != 1 {
			t.Errorf("%+v", w)
		}
	}
}

// Nobody else runs on the cores that an allocation asks for: through what is private to a core it is
// only pressed on by the other hardware thread of an odd one.
func TestWhatIsPrivateToACore(t *testing.T) {
	t.Parallel()
	sized := func(cores, mhz int, caused float64) board.Resident {
		r := resident(10, caused)
		r.Size = cluster.Resources{Cores: cores, CPUMHz: mhz}
		return r
	}
	private := predict.Traits{Private: []bool{true, false}}
	under := func(percent float64) float64 {
		if percent == 0 {
			return 1
		}
		return predict.Kept([]float64{10, 100}, []float64{percent, 0}, bound)
	}
	for name, c := range map[string]struct {
		own, other board.Resident
		host       predict.Host
		want       float64 // pressure on it
	}{
		"both share CPUs":                     {sized(0, 500, 0), sized(0, 500, 80), predict.Host{}, 80},
		"the other has cores":                 {sized(0, 500, 0), sized(2, 0, 80), predict.Host{}, 0},
		"whole cores":                         {sized(2, 0, 0), sized(0, 500, 80), predict.Host{Cores: 8, ThreadsPerCore: 2}, 0},
		"one thread of two, the others busy":  {sized(1, 0, 0), sized(7, 0, 80), predict.Host{Cores: 8, ThreadsPerCore: 2}, 80},
		"one thread of two, half of them":     {sized(1, 0, 0), sized(2, 0, 80), predict.Host{Cores: 5, ThreadsPerCore: 2}, 40},
		"an odd one of three":                 {sized(3, 0, 0), sized(5, 0, 90), predict.Host{Cores: 8, ThreadsPerCore: 2}, 30},
		"cores without threads":               {sized(1, 0, 0), sized(7, 0, 80), predict.Host{Cores: 8, ThreadsPerCore: 1}, 0},
		"nothing is known, so there are some": {sized(1, 0, 0), sized(1, 0, 80), predict.Host{}, 80},
	} {
		o := predict.NewOutlook(bound, private)
		o.Among([]board.Resident{c.other}, 2, c.host)
		if got, want := o.Kept(&c.own), under(c.want); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: it keeps %v, not %v", name, got, want)
		}
		// The same from the other side: what it would lose by a newcomer.
		o.Among([]board.Resident{c.own}, 2, c.host)
		kept := func(_ *board.Resident, kept float64) float64 { return kept }
		if got, want := lost(o, &c.other, kept), 1-under(c.want); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: it loses %v, not %v", name, got, want)
		}
	}
}

// What is promised to a resident is not given to a newcomer, and not bit by bit either.
func TestPromisesAreKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		promise func(r *board.Resident)
		there   float64 // what another resident causes
		broken  bool
	}{
		"no promise":             {func(*board.Resident) {}, 60, false},
		"a share for the target": {func(r *board.Resident) { r.TargetShare = 0.95 }, 0, true},
		"a target easily met":    {func(r *board.Resident) { r.TargetShare = 0.3 }, 0, false},
		"what others take, too":  {func(r *board.Resident) { r.TargetShare = 0.6 }, 99, true},
	} {
		r := resident(10, 0)
		c.promise(&r)
		o := predict.NewOutlook(bound, predict.Traits{})
		o.Among([]board.Resident{r, resident(100, c.there)}, 2, predict.Host{})
		w := o.Worth(predict.Newcomer{Resident: resident(100, 60), Curve: []float64{100, 100}, Speed: 1, Top: 1})
		if broken := w.Net() < 0; broken != c.broken {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

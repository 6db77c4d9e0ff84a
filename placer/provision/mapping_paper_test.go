package provision_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// market is one on which the nodes of a type are as they are said to be.
type market struct {
	good   map[string]uint8 // by type: demands up to this are met
	wait   time.Duration    // 0: not known
	spinUp time.Duration
}

func (m market) Seen(string) int                                { return 20 }
func (m market) Suffices(typ string, job provision.Digits) bool { return job[0] <= m.good[typ] }
func (m market) Wait(string, int) (time.Duration, bool)         { return m.wait, m.wait > 0 }
func (m market) Largest() (string, time.Duration)               { return "m16", m.spinUp }

// §8.4.2, the rules of P8 one after the other.
func TestP8(t *testing.T) {
	t.Parallel()
	limits := provision.Base{Soft: 0.625, Hard: 0.85}
	quiet := market{good: map[string]uint8{"m4": 40}, spinUp: 12 * time.Second}
	slow := quiet
	slow.wait = time.Minute
	fast := quiet
	fast.wait = time.Second
	for name, c := range map[string]struct {
		used   float64
		fits   bool
		demand uint8
		market market
		want   provision.Side
		typ    string
	}{
		"below the soft limit everybody":              {0.5, true, 10, quiet, provision.ToBase, ""},
		"below it without room, who tolerates much":   {0.5, false, 10, quiet, provision.ToRent, "m4"},
		"between the limits, who tolerates much":      {0.7, true, 40, quiet, provision.ToRent, "m4"},
		"between the limits, who does not":            {0.7, true, 41, quiet, provision.ToBase, ""},
		"above the hard limit, who tolerates much":    {0.9, true, 10, slow, provision.ToRent, "m4"},
		"above the hard limit, who does not":          {0.9, true, 90, fast, provision.ToWait, "m4"},
		"above it where the wait is not known":        {0.9, true, 90, quiet, provision.ToWait, "m4"},
		"above it where waiting is slower than rent":  {0.9, true, 90, slow, provision.ToRent, "m16"},
		"between the limits without room, likewise":   {0.7, false, 90, slow, provision.ToRent, "m16"},
		"between the limits without room, short wait": {0.7, false, 90, fast, provision.ToWait, "m4"},
	} {
		p, err := provision.LookupMapping("P8")
		if err != nil {
			t.Fatal(err)
		}
		b := limits
		b.Used = c.used
		got := p.Place(provision.Job{Digits: provision.Digits{c.demand}, Fits: c.fits, Type: "m4"}, b, c.market, nil)
		if got.Side != c.want || got.Type != c.typ || got.Why == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestP1ToP7(t *testing.T) {
	t.Parallel()
	m := market{good: map[string]uint8{}}
	for _, c := range []struct {
		policy string
		demand provision.Digits
		used   float64
		want   provision.Side
	}{
		{"P2", provision.Digits{0, 81}, 1, provision.ToBase}, {"P2", provision.Digits{80, 0}, 0, provision.ToRent}, {"P2", provision.Digits{80, 1}, 0, provision.ToBase},
		{"P3", provision.Digits{51}, 1, provision.ToBase}, {"P3", provision.Digits{50}, 0, provision.ToRent},
		{"P4", provision.Digits{21}, 1, provision.ToBase}, {"P4", provision.Digits{20}, 0, provision.ToRent},
		{"P5", provision.Digits{99}, 0.49, provision.ToBase}, {"P5", provision.Digits{99}, 0.5, provision.ToRent},
		{"P6", provision.Digits{99}, 0.69, provision.ToBase}, {"P6", provision.Digits{99}, 0.7, provision.ToRent},
		{"P7", provision.Digits{99}, 0.89, provision.ToBase}, {"P7", provision.Digits{99}, 0.9, provision.ToRent},
	} {
		p, err := provision.LookupMapping(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Place(provision.Job{Digits: c.demand, Fits: true, Type: "m4"}, provision.Base{Used: c.used}, m, nil); got.Side != c.want {
			t.Errorf("%s, demands %v, used %g: %+v", c.policy, c.demand, c.used, got)
		}
	}
}

// P1 sends half of the jobs to each side, and so does any policy that goes by demands where they
// are not known.
func TestCoin(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"P1", "P2", "P8"} {
		p, err := provision.LookupMapping(name)
		if err != nil {
			t.Fatal(err)
		}
		random, toBase := rand.New(rand.NewPCG(1, 1)), 0
		for range 1000 {
			if p.Place(provision.Job{Fits: true, Type: "m4"}, provision.Base{Used: 0.7, Soft: 0.6, Hard: 0.8}, market{}, random).Side == provision.ToBase {
				toBase++
			}
		}
		if toBase < 450 || toBase > 550 {
			t.Errorf("%s: %d of 1000 to the base", name, toBase)
		}
	}
	if _, err := provision.LookupMapping("P9"); err == nil || !strings.Contains(err.Error(), "P1 to P8") {
		t.Errorf("%v", err)
	}
}

// Whoever goes to a base without room waits for it.
func TestWithoutRoomItWaits(t *testing.T) {
	t.Parallel()
	p, err := provision.LookupMapping("P7")
	if err != nil {
		t.Fatal(err)
	}
	got := p.Place(provision.Job{Digits: provision.Digits{1}, Type: "m4"}, provision.Base{Used: 0.5}, market{}, nil)
	if got.Side != provision.ToWait || got.Type != "m4" || !strings.Contains(got.Why, "no room") {
		t.Errorf("%+v", got)
	}
}

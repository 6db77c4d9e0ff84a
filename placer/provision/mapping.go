package provision

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Job is what a mapping knows of an arriving job.
type Job struct {
	Digits   Digits // what it demands of each resource; nil: it is not known
	Fits     bool   // the base has room for it now
	Type     string // that it would be rented
	Position int    // how many jobs of that class wait for the base before it
}

// Known reports whether anything is known of its demands.
func (j Job) Known() bool { return len(j.Digits) > 0 }

// Base is the state of what is owned.
type Base struct {
	Used float64 // Use.Share
	Soft float64 // the soft limit now
	Hard float64
}

// Use is what jobs are given of the owned nodes that are ready.
type Use struct{ UsedMHz, TotalMHz, UsedMB, TotalMB int }

// Add returns u + o.
func (u Use) Add(o Use) Use {
	return Use{u.UsedMHz + o.UsedMHz, u.TotalMHz + o.TotalMHz, u.UsedMB + o.UsedMB, u.TotalMB + o.TotalMB}
}

// Subtract returns u - o.
func (u Use) Subtract(o Use) Use {
	return u.Add(Use{-o.UsedMHz, -o.TotalMHz, -o.UsedMB, -o.TotalMB})
}

// Share is that of CPU or of memory, the larger one; all where there is nothing.
func (u Use) Share() float64 {
	share := func(of, total int) float64 {
		if total <= 0 {
			return 1
		}
		return float64(of) / float64(total)
	}
	return max(share(u.UsedMHz, u.TotalMHz), share(u.UsedMB, u.TotalMB))
}

// Market is what is known of the types that can be rented.
type Market interface {
	// Suffices reports whether 90 % of the nodes of a type were good enough for a job lately.
	Suffices(typ string, job Digits) bool
	// Seen is how many looks at nodes of a type that rests on; 0: it is only expected.
	Seen(typ string) int
	// Wait is how long a job waits for the base, false where that is not known.
	Wait(typ string, position int) (time.Duration, bool)
	// Largest is the type of whole machines, and how long one takes to start.
	Largest() (typ string, spinUp time.Duration)
}

// Side is where a job goes.
type Side string

// The sides.
const (
	ToBase Side = "base"
	ToRent Side = "rent"
	ToWait Side = "wait"
)

// Destination is the answer of a mapping, with the reason as a sentence.
type Destination struct {
	Side Side
	Type string // that is rented, or in whose class it waits
	Why  string
}

// Mapping decides where a job goes (§8.4.2).
type Mapping struct {
	Name    string
	Summary string
	place   func(j Job, b Base, m Market, random *rand.Rand) Destination
}

// Place decides on a job. random is used by P1 alone, and by others for jobs of whose demands
// nothing is known, which are sent to either side as by P1.
func (p Mapping) Place(j Job, b Base, m Market, random *rand.Rand) Destination {
	return p.place(j, b, m, random)
}

// The thresholds of P2 to P7; those of P3 and P4 are ours, the text's are lost with a figure.
const (
	demandP2, demandP3, demandP4 = 80, 50, 20
	usedP5, usedP6, usedP7       = 0.50, 0.70, 0.90
)

// Mappings are all policies of §8.4.2.
func Mappings() []Mapping {
	return []Mapping{
		{"P1", "either side, by a fair coin", coin},
		{"P2", "the base for jobs that demand more than 80", byDemand(demandP2)},
		{"P3", "the base for jobs that demand more than 50", byDemand(demandP3)},
		{"P4", "the base for jobs that demand more than 20", byDemand(demandP4)},
		{"P5", "the base until half of it is used", byUse(usedP5)},
		{"P6", "the base until 70 % of it are used", byUse(usedP6)},
		{"P7", "the base until 90 % of it are used", byUse(usedP7)},
		{"P8", "the base up to a limit that follows the queue, above it for jobs that rented nodes are not good enough for", dynamic},
	}
}

// MappingNames are their names.
func MappingNames() []string {
	var out []string
	for _, m := range Mappings() {
		out = append(out, m.Name)
	}
	return out
}

// ErrNoMapping: no policy has the name.
var ErrNoMapping = errors.New("provision: there is no such mapping")

// LookupMapping finds a policy.
func LookupMapping(name string) (Mapping, error) {
	all := Mappings()
	i := slices.IndexFunc(all, func(p Mapping) bool { return p.Name == name })
	if i < 0 {
		return Mapping{}, fmt.Errorf("%w: %q; there are P1 to P8", ErrNoMapping, name)
	}
	return all[i], nil
}

func coin(j Job, _ Base, _ Market, random *rand.Rand) Destination {
	if random.IntN(2) == 0 {
		return base(j, "a fair coin says so")
	}
	return rent(j, "a fair coin says so")
}

// base is the base, or its queue where it has no room.
func base(j Job, why string) Destination {
	if j.Fits {
		return Destination{ToBase, "", why}
	}
	return Destination{ToWait, j.Type, why + ", and the base has no room"}
}

func rent(j Job, why string) Destination { return Destination{ToRent, j.Type, why} }

// byDemand sends jobs to the base whose highest demand is above a threshold: the share of Q_T that
// the first digit decides.
func byDemand(threshold uint8) func(Job, Base, Market, *rand.Rand) Destination {
	return func(j Job, b Base, m Market, random *rand.Rand) Destination {
		if !j.Known() {
			return coin(j, b, m, random)
		}
		limit := make(Digits, len(j.Digits))
		limit[0] = threshold
		if Demand(j.Digits).Compare(Quality(limit)) > 0 {
			return base(j, fmt.Sprintf("it demands more than %d of a resource", threshold))
		}
		return rent(j, fmt.Sprintf("it demands no more than %d of any resource", threshold))
	}
}

func byUse(limit float64) func(Job, Base, Market, *rand.Rand) Destination {
	return func(j Job, b Base, _ Market, _ *rand.Rand) Destination {
		if b.Used < limit {
			return base(j, fmt.Sprintf("%s of the base is used, less than %s", percent(b.Used), percent(limit)))
		}
		return rent(j, fmt.Sprintf("%s of the base is used, not less than %s", percent(b.Used), percent(limit)))
	}
}

// dynamic is P8: the base is filled first, a job that tolerates much never delays one that does
// not, and the limits follow the queue.
func dynamic(j Job, b Base, m Market, random *rand.Rand) Destination {
	if !j.Known() {
		return coin(j, b, m, random)
	}
	used := percent(b.Used) + " of the base is used"
	if b.Used < b.Soft && j.Fits {
		return base(j, used+", less than the soft limit of "+percent(b.Soft))
	}
	suffices := m.Suffices(j.Type, j.Digits)
	if suffices {
		return rent(j, used+", and "+goodLately(j.Type, m.Seen(j.Type)))
	}
	notGood := "nodes of type " + j.Type + " were not good enough for it lately"
	if b.Used < b.Hard && j.Fits {
		return base(j, used+", less than the hard limit of "+percent(b.Hard)+", and "+notGood)
	}
	if largest, spinUp := m.Largest(); largest != "" {
		if wait, known := m.Wait(j.Type, j.Position); known && wait > spinUp {
			return Destination{ToRent, largest, fmt.Sprintf("%s, and it would wait %s for the base, longer than a whole machine takes to start (%s)", notGood, wait.Round(time.Millisecond), spinUp.Round(time.Millisecond))}
		}
	}
	return Destination{ToWait, j.Type, used + ", and " + notGood}
}

// goodLately says on what it rests that a type suffices.
func goodLately(typ string, seen int) string {
	if seen == 0 {
		return "nothing is known of nodes of type " + typ + " yet"
	}
	return fmt.Sprintf("nine of ten nodes of type %s were good enough for it lately, by %d looks at them", typ, seen)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

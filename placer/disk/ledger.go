package disk

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// The keys of a node's metadata. The prefix `unique.` keeps them out of Nomad's computed
// node class, which they would split.
const (
	// RatedKey is what the node's disk does with sequential reads, in MB/s: the operator says
	// it, as `nomad-placer twin play -latency` measures it.
	RatedKey = "unique.placer_disk_mb_per_sec"
	// FreeKey is what may still be promised, in MB/s: the placer says it.
	FreeKey = "unique.placer_disk_free_mb_per_sec"
)

// MoveShare is Δ_B, the part of the bandwidth that is left free for moving data (Delimitrou
// 2015, §B.4.2).
const MoveShare = 0.02

// mostMBPerSec is above what any disk does, so that a slip of a unit is seen (chosen by us).
const mostMBPerSec = 1e6

// Errors of what a node says of its disk. Where there is one nothing is counted.
var (
	ErrNotSaid  = errors.New("what its disk does is not known: " + RatedKey + " is not in its metadata")
	ErrNotARate = errors.New("what its disk does is not known")
)

// Rated is what a node's metadata says that its disk does, in MB/s.
func Rated(meta map[string]string) (float64, error) {
	said, ok := meta[RatedKey]
	if !ok {
		return 0, ErrNotSaid
	}
	v, err := strconv.ParseFloat(said, 64)
	if err != nil || !(v > 0 && v <= mostMBPerSec) {
		return 0, fmt.Errorf("%w: %s in its metadata is %q, and takes a number of MB/s above 0 and at most %.0f, such as \"400\"", ErrNotARate, RatedKey, said, mostMBPerSec)
	}
	return v, nil
}

// Account is what is promised of one node's disk.
type Account struct {
	RatedMBPerSec    float64 // above 0
	PromisedMBPerSec float64 // B_s, the sum
	MostShare        float64 // MB_s, the least of those that have a promise; 1 where none has
	Promises         int
}

// NewAccount is that of a node on which nothing is promised.
func NewAccount(ratedMBPerSec float64) Account {
	return Account{RatedMBPerSec: ratedMBPerSec, MostShare: 1}
}

// mostShare is MB_i: up to which use of the disk the workload keeps its bound. 0, where
// nothing is said, is all of it.
func mostShare(p performance.DiskSpec) float64 {
	if p.MostPercent == 0 {
		return 1
	}
	return p.MostPercent / 100
}

// Add promises one allocation what it asks for, whether that suffices or not.
func (a *Account) Add(p performance.DiskSpec) {
	a.PromisedMBPerSec += p.BandwidthMBPerSec
	a.MostShare = min(a.MostShare, mostShare(p))
	a.Promises++
}

// LimitMBPerSec is what may be promised together where p is among the promises: the sum must
// stay below it.
func (a Account) LimitMBPerSec(p performance.DiskSpec) float64 {
	return (min(a.MostShare, mostShare(p)) - MoveShare) * a.RatedMBPerSec
}

// Takes reports whether one more allocation may be promised what it asks for.
func (a Account) Takes(p performance.DiskSpec) bool {
	return a.Promises == 0 || a.PromisedMBPerSec+p.BandwidthMBPerSec < a.LimitMBPerSec(p)
}

// Room is how many allocations that ask for the same it takes, up to a limit.
func (a Account) Room(p performance.DiskSpec, limit int) int {
	n := 0
	for n < limit && a.Takes(p) {
		a.Add(p)
		n++
	}
	return n
}

// FreeMBPerSec is what may still be promised to a workload that keeps its bound whatever the
// use of the disk.
func (a Account) FreeMBPerSec() float64 {
	return max(0, a.LimitMBPerSec(performance.DiskSpec{})-a.PromisedMBPerSec)
}

// Refusal says why p does not fit, as in "its disk does 100 MB/s; 98 may be promised, and 60
// are: 60 more do not fit".
func (a Account) Refusal(p performance.DiskSpec) string {
	return fmt.Sprintf("%s: %s more do not fit", a.state(p), number(p.BandwidthMBPerSec))
}

// Granted says what is promised once n more allocations have what they ask for.
func (a Account) Granted(p performance.DiskSpec, n int) string {
	alone := a.Promises == 0 && !(p.BandwidthMBPerSec < a.LimitMBPerSec(p))
	for range n {
		a.Add(p)
	}
	said := fmt.Sprintf("%s, %s of them to this group", a.state(p), number(float64(n)*p.BandwidthMBPerSec))
	if alone {
		said += "; that is more than may be, and only a disk on which nothing else is promised is given so much"
	}
	return said
}

// state is what may be promised and what is, with p among the promises.
func (a Account) state(p performance.DiskSpec) string {
	of := ""
	if share := min(a.MostShare, mostShare(p)); share < 1 {
		of = fmt.Sprintf(", of which %s %% may be in use where these workloads are", number(100*share))
	}
	return fmt.Sprintf("its disk does %s MB/s%s; %s may be promised, and %s are", number(a.RatedMBPerSec), of, number(max(0, a.LimitMBPerSec(p))), number(a.PromisedMBPerSec))
}

// number is one to a tenth.
func number(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64) }

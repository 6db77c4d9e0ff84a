package disk

import (
	"math"
	"time"
)

// What the data sheets of disks of 1 TB with SATA say that servers had in 2011 (7,200 turns a
// minute, below 1.0 ms to the next track, below 8.5 ms to any on average, about 100 MB/s); that
// of Chiang and Huang 2011 is such a disk, of which no more is said. Chosen before anything was
// measured.
const (
	rotatingBytes       = 1e12
	rotatingTurn        = time.Minute / 7200
	rotatingBytesPerSec = 100e6
	rotatingNextTrack   = time.Millisecond
	rotatingMeanSeek    = 8500 * time.Microsecond
	// busBytesPerSec is what its cache gives, by the second generation of SATA.
	busBytesPerSec = 300e6
)

// Times of Linux's deadline scheduler of I/Os, as its documentation has them
// (block/deadline-iosched): how long a read and a write may wait, how many are done in ascending
// order at a time, and how often reads go before writes that wait.
const (
	deadlineRead   = 500 * time.Millisecond
	deadlineWrite  = 5 * time.Second
	deadlineBatch  = 16
	deadlineStarve = 2
)

// trackBytes pass the head in a turn.
var trackBytes = rotatingBytesPerSec * rotatingTurn.Seconds()

// seekScale makes the mean over two random places what it is: a seek takes as long as the root of
// its distance, beyond the next track, and the mean root of the distance of two random places of
// a line of length 1 is 8/15.
var seekScale = (rotatingMeanSeek - rotatingNextTrack).Seconds() / (8. / 15)

// rotating is a disk with one arm: what it takes is a seek, the turn until the place is there, and
// the transfer. What goes on where it ended before has neither: the disk reads ahead and writes
// behind in its cache. Requests are chosen as Linux's deadline scheduler does.
type rotating struct {
	head    int64     // where it stands
	ended   time.Time // when it was last done
	writes  bool      // the direction it is in
	batch   int       // done in this direction in ascending order
	starved int       // batches of reads since writes began to wait
}

// next implements mechanism.
func (r *rotating) next(waiting []*request, now time.Time) int {
	if r.batch < deadlineBatch {
		if i := r.above(waiting, r.writes); i >= 0 {
			r.batch++
			return i
		}
	}
	read, write := first(waiting, false), first(waiting, true)
	r.writes = read < 0 || write >= 0 && r.starved >= deadlineStarve
	switch {
	case r.writes, write < 0:
		r.starved = 0
	default:
		r.starved++
	}
	r.batch = 1
	oldest, within := read, deadlineRead
	if r.writes {
		oldest, within = write, deadlineWrite
	}
	if now.Sub(waiting[oldest].came) > within {
		return oldest
	}
	if i := r.above(waiting, r.writes); i >= 0 {
		return i
	}
	return lowest(waiting, r.writes)
}

// above is the next request of a direction from the head on; -1 where there is none.
func (r *rotating) above(waiting []*request, writes bool) int {
	at := -1
	for i, o := range waiting {
		if o.write == writes && o.at >= r.head && (at < 0 || o.at < waiting[at].at) {
			at = i
		}
	}
	return at
}

// first is the oldest request of a direction; -1 where there is none.
func first(waiting []*request, writes bool) int {
	at := -1
	for i, o := range waiting {
		if o.write == writes && (at < 0 || o.came.Before(waiting[at].came)) {
			at = i
		}
	}
	return at
}

func lowest(waiting []*request, writes bool) int {
	at := -1
	for i, o := range waiting {
		if o.write == writes && (at < 0 || o.at < waiting[at].at) {
			at = i
		}
	}
	return at
}

// takes implements mechanism.
func (r *rotating) takes(o *request, begun time.Time) time.Duration {
	transfer := secondsOf(float64(o.bytes) / rotatingBytesPerSec)
	var took time.Duration
	if o.at == r.head && !r.ended.IsZero() {
		// It went on meanwhile.
		took = max(transfer-begun.Sub(r.ended), secondsOf(float64(o.bytes)/busBytesPerSec))
	} else {
		took = seek(r.head, o.at)
		took += turnTo(o.at, begun.Add(took)) + transfer
	}
	r.head, r.ended = o.at+int64(o.bytes), begun.Add(took)
	return took
}

// seek moves the arm. What is on the same track or the next is reached without.
func seek(from, to int64) time.Duration {
	distance := math.Abs(float64(to - from))
	if distance < trackBytes {
		return 0
	}
	return rotatingNextTrack + secondsOf(seekScale*math.Sqrt(distance/rotatingBytes))
}

// turnTo waits until a place is below the head.
func turnTo(at int64, now time.Time) time.Duration {
	place := math.Mod(float64(at), trackBytes) / trackBytes
	angle := float64(now.UnixNano()%int64(rotatingTurn)) / float64(rotatingTurn)
	ahead := place - angle
	if ahead < 0 {
		ahead++
	}
	return time.Duration(ahead * float64(rotatingTurn))
}

func secondsOf(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }

// What is between a server and a remote disk: iSCSI on Ethernet of 1 Gbit/s, whose protocols leave
// about 112 MB/s, with half a millisecond there and back. Chosen before anything was measured; of
// the remote disk of Chiang and Huang 2011 no more is said than that it is one.
const (
	linkBytesPerSec = 112e6
	linkRoundTrip   = 500 * time.Microsecond
)

// remote is a rotating disk whose requests cross a network, one at a time: it has no queue that
// would hide the way.
type remote struct{ disk rotating }

// next implements mechanism.
func (r *remote) next(waiting []*request, now time.Time) int { return r.disk.next(waiting, now) }

// takes implements mechanism.
func (r *remote) takes(o *request, begun time.Time) time.Duration {
	return r.disk.takes(o, begun) + linkRoundTrip + secondsOf(float64(o.bytes)/linkBytesPerSec)
}

package admission

import (
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// Instant is a moment as the time since the start of the world. A live engine
// and the simulator count it alike.
type Instant = time.Duration

// Item is an ask that waits to be placed.
type Item struct {
	Ask     *board.Request
	Arrived Instant       // submitted
	Ready   Instant       // profiled and classified; ≥ Arrived
	Profile time.Duration // spent on profiling this time; 0 where it was known
}

// Attempt is an item that may be placed now.
type Attempt struct {
	Item Item
	// Within limits the nodes the selector may take; nil is all of them.
	Within func(n board.Index) bool
	// Only lists the nodes of Within, where they are few; nil otherwise.
	Only []board.Index
	// Forced: this is the last chance; whatever the selector finds is taken.
	Forced bool
	// Late asks for late binding at busy nodes (Tarcil, §7.3).
	Late bool
}

// Controller holds the waiting asks of one board. It is used by one goroutine
// and is deterministic.
//
// The caller asks Next until it answers no, and after each Attempt says how it
// went by Placed or Refused. It asks again after every Arrive, Started, Ended,
// change of the board, and at the time of Wake.
type Controller interface {
	Arrive(now Instant, it Item)
	// Next returns the next item to try at that moment.
	Next(now Instant) (Attempt, bool)
	Placed(now Instant, handle board.Handle)
	Refused(now Instant, handle board.Handle)
	// Withdraw forgets an item that its user took back.
	Withdraw(handle board.Handle)
	// Started and Ended tell of allocations on the board's nodes, already shown
	// there.
	Started(now Instant, n board.Index, handle board.Handle)
	Ended(now Instant, n board.Index, handle board.Handle)
	// Wake is when time alone changes the answer of Next; ok is false if never.
	Wake() (at Instant, ok bool)
	// Waiting counts the items held.
	Waiting() int
}

// Options are the parameters of a controller.
type Options struct {
	Classes int // of quality; 0 is the paper's ten
	Values  map[string]string
	Rental  Rental // of hcloud; nil: nothing can be rented
}

// Descriptor is one line of the table of controllers.
type Descriptor struct {
	Name    string
	Summary string
	Paper   string // author, year, section; "" for baselines
	// Parameters are what Options.Values may hold.
	Parameters []Parameter
	New        func(b *board.Board, o Options, random *rand.Rand) (Controller, error)
}

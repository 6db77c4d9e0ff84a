package worker

import (
	"context"
	"errors"
	"fmt"
)

// Kind is a kind of worker.
type Kind struct {
	Name    string
	Unit    string // of one op
	Does    string
	Threads int // 0 is one per CPU
	// open prepares one thread's loop, on that thread, pinned.
	open func(o Spec, thread int, shared *commons) (loop, error)
}

// loop is one thread's work.
type loop interface {
	// step does one quantum, of at most about a millisecond where the resource
	// allows, and returns what it did.
	step() (count, error)
	close() error
}

// count is what a step adds to a thread's counters.
type count struct {
	ops uint64
	// nanoseconds is the time a probe took for its ops; 0 for workers that are
	// not timed by themselves.
	nanoseconds uint64
}

// commons is what the threads of one worker share.
type commons struct{ mailbox mailbox }

// Kinds lists the workers, sorted by name.
func Kinds() []Kind {
	return []Kind{
		chaseKind,
		codeKind,
		codeProbeKind,
		copyKind,
		cycleKind,
		diskRandomKind,
		diskSequentialKind,
		echoKind,
		floatKind,
		integerKind,
		memchrKind,
		pingKind,
		probeKind,
		touchKind,
		triadKind,
		vectorKind,
	}
}

// errUnknownKind is a name that Kinds does not list.
var errUnknownKind = errors.New("no such worker")

func kindOf(name string) (Kind, error) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("%q: %w", name, errUnknownKind)
}

// Does says what the workers of a kind do, for people; empty for no such kind.
func Does(kind string) string {
	k, _ := kindOf(kind)
	return k.Does
}

// runLoop does steps while the page says run, until ctx ends.
func runLoop(ctx context.Context, l loop, thread int, p *page) error {
	for ctx.Err() == nil {
		if !p.awaitRun() {
			continue
		}
		done, err := l.step()
		if err != nil {
			return err
		}
		p.add(thread, done)
	}
	return nil
}

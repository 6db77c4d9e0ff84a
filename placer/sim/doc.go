// Package sim is a cluster that runs on a virtual clock: the world in which the
// policies of the papers are compared with each other on the same submissions.
//
// # Theory
//
// A deterministic discrete-event simulation. Submissions are profiled,
// classified, admitted (admission.Controller) and placed (board.Selector) on a
// board.Board, by as many scheduling agents as the run has; a choice takes the
// time its policy states (board.DecisionTime), and is refused when another one
// took the room meanwhile. What was placed runs at the speed that truth.World
// gives it next to its co-runners. Speeds are piecewise constant: whenever the
// allocations of a node, their sizes, phases or loads change, all its speeds are
// computed anew, work done is integrated exactly, and the end is rescheduled.
//
// Events lie in a 4-ary heap by (time, sequence). A superseded event is not
// taken out: it carries the generation of its owner and is dropped when it
// comes up. With truth none (Job.App nil) durations are fixed and no event of
// an allocation changes another one.
//
// The same configuration and seed give the same result, byte for byte: all
// random numbers come from streams of the seed, one per purpose, so that every
// policy sees the same submissions, profiles and failures.
//
// Jobs with a deadline are tasks bound by cpu that hold caps (truth.Capped): an adapter
// sees each of them through a meter with an error (Meter), changes caps and moves tasks
// to nodes it names, which costs a time without work. What is not done at its deadline
// is taken away.
//
// With a Fleet, nodes are rented and given back while the run goes on: they are on the board from
// the start and ready only while they are rented. What other customers do on their machines
// changes speeds as co-runners do.
//
// # Differences from a real cluster
//
// Agents decide on the state of the moment their decision starts, never on an
// older copy. An eviction, and the move to another node, take effect at once
// and cost a stated time. Memory is exhausted at once where the truth says so.
package sim

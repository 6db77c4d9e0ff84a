// Package generate draws I/Os from a model of package model, and writes what fio reads.
//
//	w, err := generate.NewWalk(m, generate.Options{Seed: 1})
//	err = w.Next(&record) // io.EOF at the end of the model's time
//
// # Theory
//
// The walk keeps a place in the diagram for every thread. A step draws a transition out of
// the thread's state, and with it the next state, the category, and the gap since the
// thread's last I/O. Inside its state, an I/O that is not sequential begins anywhere.
//
// Two things are controlled that independent draws leave to chance. Shares: every choice
// is drawn without replacement from an urn that is filled in proportion to the counts of
// the trace, 256 draws at a time, and what does not divide is carried over; so the weight
// of a transition stays within 0.05 % at 10^6 I/Os, which independent draws do not reach
// (a weight of 20 % has a standard deviation of 0.04 %). Rates: with n I/Os left for the
// rest R of an interval, a gap x of mean m is R·x/(x + n·m): in proportion to the draw,
// never past the end, and the interval gets its I/Os.
//
// Jobs is the other form of the text: a generator for every transition, with its own range,
// size, direction and gap, which keeps shares and loses the order between states.
//
// Source: Delimitrou 2015, §A.3.3 and §A.3.4; compression of time: §B.3.2.
//
// # Differences from the text
//
// The text adjusts the idle time of generator threads to hold weights; urns and the pace
// of an interval do it here. A walker stands for a thread; above 64 threads of a type they
// share them. The intensity knob scales gaps, and so how many I/Os an interval has.
package generate

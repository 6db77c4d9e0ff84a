// Package model is the state diagram of a storage workload: how it is counted from a
// trace, and its file (FORMAT.md).
//
//	survey := model.NewSurvey()                          // once through the trace
//	fitter, err := model.NewFitter(survey, layout, o)    // and once more
//	fitted, err := fitter.Finish()
//	m, err := fitted.Model(2)                            // of two levels
//
// # Theory
//
// A transition is a pair of states with a category (direction, kind, size) and the time
// since the thread's I/O before. With n(t) the I/Os that made it,
//
//	prob(t)   = n(t) / I/Os out of its source state     Transition.Probability
//	weight(t) = n(t) / all I/Os of the model            Transition.IOs over Model.IOs
//
// A transition between two states that differ first at level k is kept at level k, between
// their ancestors there; between two with one parent, at the last level. Counts of a depth
// are sums of those of a deeper one, so that one reading gives the models of all depths
// (diagram.upTo).
//
// Let e(a,k) be the I/Os that leave the state a of the last level by a transition of
// level k, and i(b,k) those that enter b by one. A walk that leaves a by level k with
// probability e(a,k)/n(a), takes a transition out of its ancestor there in proportion to
// n(t), and enters b in the state it leads to in proportion to i(b,k), enters b
// Σ_A n(A→B)·i(b,k)/Σ n(·→B) = i(b,k) times by level k when a is visited n(a) times: the
// visits of the trace are the stationary distribution of the walk.
//
// Source: Delimitrou 2015, §A.3.1 to §A.3.4 and §A.4.3.
//
// # Differences from the text
//
// The text gives no rule for landing inside a coarse state, nor for leaving one: entries
// and exits are ours. Sizes that carry 99.5 % of the I/Os are kept, the others take the
// nearest one of their direction and kind; the part that did is in the file. The family of
// gaps is chosen by their distance from the trace, for the text lists five and chooses
// none. What cut-offs tell types of threads is in threads.go.
package model

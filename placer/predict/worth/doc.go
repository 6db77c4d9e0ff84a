// Package worth says which measurement of a workload is worth its seconds, by what it is
// expected to change: the value of sample information of a decision (Raiffa and Schlaifer
// 1961, chapter 4), in points of performance.
//
// # The rule
//
// A decision is a Question: which of a few places is best, where a place is worth what the
// workload keeps there of what its target needs, less what the workloads there lose. One
// question is the decision that is at hand, with its candidates and what runs on them; the
// others are typical: places with workloads whose scores are known, for whoever uses the
// profile again.
//
// A measurement of a source gives both of its scores, with the standard deviation that the
// time spent on it allows. Before it is made its result has a normal distribution around
// what is believed; it is put at five values of that, and for each the classifier says
// what all other scores would be. What the best places are then worth, above the places
// that would be chosen without it, is the worth of the measurement. Nothing that it says can
// make it negative.
//
// A run leaves a source where another one gains more a second, and ends where no
// measurement that is left is worth Options.LeastPoints. A source that gave no score is as
// unknown as before it was pressed on: a probe that stalls or counts in bursts makes no run
// end early.
//
// # What it does not do
//
// It looks one measurement ahead: two that change a decision only together are worth nothing
// to it. It chooses places by what they are worth and not by the rules of a policy. What is
// left unknown enters as its mean.
package worth

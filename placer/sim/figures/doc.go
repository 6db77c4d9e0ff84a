// Package figures is the reproduction report: the tables and figures of the
// papers as data, the scenarios that reproduce them, what a reproduction must
// show as checked predicates, and the pages that put published and ours side by
// side.
//
// An Experiment is one row, table or figure of a paper: an entry of the table of
// its paper, which is a file (arq.go, paragon.go, …). It names scenarios of
// examples/sim, lists what was published, and says why we differ, from causes and
// not from results. A requirement is met, missed, or cannot be carried by the
// simulator, and then says why. Nothing is tuned here: what is missed is reported as missed.
//
// Every run of one policy under one seed is kept in a folder under a key of
// everything it depends on (store.go), what the scenario says and not how it is
// written included, so that a stopped report goes on where it was. The same
// program and data give the same bytes of Markdown: there is no date in it, and
// no time of the host. What the host took is in the HTML page, in a section of
// its own.
//
// # Differences from the papers
//
// Intervals are Student's t over seeds; the papers show means of 7 runs, some
// with a standard deviation. A quantity that compares two policies is computed
// within each seed, on the same submissions, and then averaged.
package figures

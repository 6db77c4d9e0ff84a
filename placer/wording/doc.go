// Package wording holds the words of everything that people read: numbers with
// their units, durations, counted and shortened lists, and the sentences of
// records. Reasons of policies, the pages, the command line and the tab in
// Nomad's UI all use it, so that a number reads the same wherever it is seen.
//
// Numbers keep three significant digits and carry their unit; a number that is
// not known is printed as "unknown", never as zero.
package wording

// Package shape describes clusters as data: so many nodes of each configuration,
// with cores, memory, clock and cache, and for every number where it comes from.
//
// Papers rarely give their whole cluster. What the text states is marked Stated;
// what the maker or the provider published of a named part, Catalogue; and what
// neither says and we had to settle, Choice. A number that
// not given is unknown.
//
// Sources: Delimitrou 2015, tables 3.3 and 4.1 and §§3.4, 4.5, 7.6 (the clusters of
// Paragon, Quasar, ARQ and Tarcil).
//
//	c, err := shape.Lookup("paragon-local-40")
//
// # Differences from the papers
//
// The cloud clusters are given as a number of servers, of configurations and
// (EC2, Tarcil) of cores. Ours have exactly those three, from instance types that
// were on offer then; which types and how many of each are choices.
package shape

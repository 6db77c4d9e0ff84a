// Package chaostest runs agents of nomad-placer against a Nomad that fails in every way
// it can, and holds what comes of it against the promises of the operator guide.
//
// A history is a few jobs, what their users do with them, and faults, drawn from a seed.
// It is run in a synctest bubble: two or three whole agents (event stream, election,
// deadline guard, engine, records) and a proxy over the in-memory Nomad of nomadtest, with a
// network between them that does as the history says, on machines whose clocks are set while
// they run. An agent that is killed sends nothing from then on, whatever its goroutines still
// do; the next one starts from what is in Nomad. A job has to be released in time where one
// agent is well, whatever the others do.
//
// faults_test.go has one line for each fault, promises_test.go one for each promise,
// driver_test.go one for each thing that the driver of a node may do instead of what it is
// asked. How fast a workload is, is made up (adapt_test.go): in a bubble none runs.
// `make chaos` runs many histories (HISTORIES, from the seed FIRST on) and writes how often
// each promise was tried into the security page; a seed
// that breaks one is run again with ever fewer faults until none can be left out.
package chaostest

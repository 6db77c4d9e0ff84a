// Package nomadtest is a Nomad for tests: the part of its HTTP API that this
// project uses, in memory, in one process, without time of its own.
//
// It is faithful where faithfulness matters: versions and compare-and-set of jobs,
// kept submissions, node pools, the rule that a job in an empty pool gets no
// allocation, refusals of Variables locks, and the casing of JSON fields. It has
// no scheduler: with AutoPlace it puts a job's allocations on the ready nodes of
// its pool that the constraints on `${node.unique.id}` allow, in order of node id,
// and regards nothing else.
package nomadtest

// Package scenario reads scenario files (examples/sim/*.hcl) and runs them: a
// cluster, what is submitted to it, the policies to compare and the seeds. It is
// where the parts of the simulated world meet.
//
// A scenario is plain values: no variables, no functions. Every error names the
// file, the line and the column, and the nearest known name. The grammar is the
// structs of file.go.
//
// A file may start from another one of its folder, which may do so too:
//
//	base = "paragon-ec2-high.hcl"
//
// What the file says goes over what its base says. An attribute replaces the one of
// its name, lists and maps as a whole. A block goes over the one of its type and
// labels, by the same rule, and keeps its place. What the base does not have is
// added at the end. Only policies can be left out:
//
//	policies = ["paragon", "least-loaded"]
//
// names those that are compared, of the base's and the file's own, in this order.
// Where the base and the file have a block of the same type and labels, and one of
// them has it several times, as kinds of machines are, which is meant cannot be said,
// and that is an error. All of it happens before values are read, so that an error
// names the file that has the value; what is missing is missing in the file that was
// asked for.
//
// A base need not be usable by itself. A file whose name ends in .base.hcl is a base
// only: it is never run, listed or counted.
//
// Identity is what a scenario says in one form, however it was written: kept results
// go by it.
//
// A provision block takes the place of cluster and populations: nodes that are owned and nodes that
// can be rented, and jobs whose demand for cores follows a curve (Delimitrou 2015, chapter 8). Which
// nodes a policy has, its strategy says; one without knowledge gets jobs of the sizes that their
// users ask for. With sweep, loads are values of what it names.
//
// With world = "published" drawn applications are of the world that is fitted to what papers publish
// of their workloads and machines (decision 0058), and cf-log is the default classifier. Without it
// they are of the one that no fit has moved.
//
// Runs are independent: one per policy, load and seed. Within one load and seed
// all policies get the same applications, submissions, profiles and lost nodes
// (common random numbers), so that differences between policies are those of
// the policies.
package scenario

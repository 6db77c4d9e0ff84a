// Package dispatch runs units of work as batch jobs of a Nomad cluster: Nomad queues them, places
// them and starts them, and this package hands them out, collects what they made, and hands out
// again what was lost.
//
// For Run a unit is bytes that a program turns into bytes, by itself: the same bytes on every node.
//
//	err := dispatch.Run(ctx, nomad, options, units, func(i int, result []byte) error { … })
//
// and, in the program that runs on the nodes,
//
//	done, err := dispatch.Work(ctx, payload, folder, func(ctx context.Context, input []byte) ([]byte, error) { … })
//
// Several units go out in one dispatch, as many as take some seconds, for a dispatch costs the
// cluster about one. A node that dies costs what is in its dispatch.
//
// What is not believed: a result whose checksum is wrong, that is not of the units that were asked
// for, or that another program made.
//
// For RunJobs a unit is a job of its own, made by who asks once there is a node for it; who asks also
// says what of its results is believed.
package dispatch

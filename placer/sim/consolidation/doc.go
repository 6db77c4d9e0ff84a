// Package consolidation simulates a cluster of storage nodes under BLOC and under what it is
// compared with (Delimitrou 2015, §B.7): energy, performance, broken limits and moved data
// of a day.
//
//	volumes, err := consolidation.ReadVolumes(windows)       // six days of real demand
//	setup, err := consolidation.NewSetup(volumes, seed)
//	outcome, err := setup.Run(ctx, scheme)
//
// The first days are history for predictions; data are placed at the begin of the day before
// the last, and the last day is judged.
//
// # What is real and what is assumed
//
// The load over time of every instance is that of a real volume (CloudPhysics, 30 minutes).
// Everything else is assumed, for the text gives none of it: each curve is scaled to a mean
// of 4 to 10 % of a node's bandwidth ("rarely above single digits"), instances have 50 to
// 450 GB, MB_i is on the line between the text's two points, 30 % for a random and 70 % for
// a sequential workload, by the volume's own share of sequential I/Os, and what two lose by
// one another is that of a queue (Loss of the scene). What really happens differs from what
// twins predict by a random factor for each pair.
package consolidation

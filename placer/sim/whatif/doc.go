// Package whatif replays the runs that an agent has on record under each strategy of owned and rented
// nodes (HCloud; Delimitrou 2015, §8.3, §8.4.1), in the simulated world and with its admission
// controller: what each would have reached and cost, at given prices.
//
// Differences from the text:
//
//   - The jobs are those of a real cluster. What they tolerate and cause is what is on record of them,
//     and what really happens follows from the same scores: a strategy knows all that there is to know.
//   - Each allocation of a group is a job of its own. A group that has more than a rented node holds
//     could be rented nothing otherwise.
//   - A run is taken to last as long alone as it lasted. What it lost to co-runners is in that.
//   - The hybrids own as many nodes as the least load needs, one at least: without any there would be no
//     base. In the text they own those of the steady load, which is not known of a real one.
//
// The same records, question and seed give the same comparison.
package whatif

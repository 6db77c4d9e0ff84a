// Package report turns runs of the simulated world into tables and pictures: one
// Line per policy and load, with a 95 % interval over seeds for every metric,
// as JSON and as one HTML page without anything to load.
//
// Performance is the ideal time (in isolation, on the best configuration, at its
// target where it has one) over the real one; of a service, the share of its load
// that was served. A job keeps its QoS at 95 % and above (Delimitrou 2015, §3.4.1). A
// job that was killed or had not ended counts as 0: it is never left out.
package report

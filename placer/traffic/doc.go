// Package traffic keeps what the tables of captured traffic say of a cluster now: which jobs and
// nodes exchange how much, over which racks, who the peers of a group are, and what the uplinks
// of racks are expected to carry next. It reads a folder again and again; nothing of it decides.
//
// What an uplink will carry is what it carried at the same time a week before, else a day
// before. On the declared cluster of the study last week as it was forecasts this one no worse
// than the chains fitted to it (placer/docs/traffic.md), and needs no fit.
//
// Source: Delimitrou 2015, §C.4 (characterisation of the traffic).
package traffic

base   = "tarcil-short.hcl"
title  = "Tarcil on 100 servers of five configurations: short jobs"
source = "Delimitrou 2015, §7.6, figure 7.12c"
notes = [
  "tasks of 100 ms, 20 to a job; profiles are known beforehand, as in the text",
  "75 of the 100 servers are weaker or stronger ones",
  "decisions take the time of the stated cost model; results depend on it",
]

cluster {
  shape = "tarcil-100-heterogeneous"
}

base   = "tracon.base.hcl"
title  = "TRACON: 64 machines, tasks keep coming, light on the disk"
source = "Chiang and Huang 2011, §4.4 and §4.5, figures 9 and 10"
notes = [
  "applications, their speeds and their requests are those measured in profiler/training/backgrounds; the policies know models learnt next to 125 background workloads",
  "every application runs 2 minutes in isolation: the slots of the largest clusters of the text by its largest arrival rates",
  "a load is a number of tasks per minute",
  "two hours, where the text has ten, with three seeds",
]
seeds = [1, 2, 3]
loads = [20, 60]
limit = "2h"

colocation {
  machines = 64
  mix      = "light"
  poisson  = true
}

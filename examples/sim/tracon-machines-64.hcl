base   = "tracon.base.hcl"
title  = "TRACON: 64 machines, 1,000 tasks a minute"
source = "Chiang and Huang 2011, §4.6, figures 11 and 12"
notes = [
  "applications, their speeds and their requests are those measured in profiler/training/backgrounds; the policies know models learnt next to 125 background workloads",
  "every application runs 2 minutes in isolation: the slots of the largest clusters of the text by its largest arrival rates",
  "twenty minutes, where the text has ten: the rates are those of a queue that grows all the time",
]
seeds = [1]
limit = "20m"

colocation {
  machines   = 64
  mix        = "medium"
  per_minute = 1000
}

base   = "tracon-machines-64.hcl"
title  = "TRACON: 10,000 machines, 10,000 tasks a minute"
source = "Chiang and Huang 2011, §4.6"
notes = [
  "applications, their speeds and their requests are those measured in profiler/training/backgrounds; the policies know models learnt next to 125 background workloads",
  "every application runs 2 minutes in isolation: the slots of the largest clusters of the text by its largest arrival rates",
  "ten minutes, where the text has ten hours",
]
limit    = "10m"
policies = ["fifo", "mibs-8", "mibs-8-oracle"]

colocation {
  machines   = 10000
  per_minute = 10000
}

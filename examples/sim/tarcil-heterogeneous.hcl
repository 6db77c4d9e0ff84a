base   = "tarcil.base.hcl"
title  = "Tarcil on 400 servers: 7,200 mixed jobs"
source = "Delimitrou 2015, §7.6"
notes = [
  "durations of 10 minutes to 1 hour are ours: two thirds of the cores are wanted; profiles are known beforehand",
  "decisions take the time of the stated cost model; results depend on it",
]

cluster {
  shape = "tarcil-400"
}

population "mixed" {
  classes       = ["ST", "MT", "MP", "IO"]
  platforms     = "published"
  applications  = 400
  jobs          = 7200
  equal_classes = true

  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "10m"
    high = "1h"
  }
}

profiling {
  training = 50
}

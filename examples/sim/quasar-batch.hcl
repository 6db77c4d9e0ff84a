base   = "quasar.base.hcl"
title  = "Quasar: ten Hadoop jobs, one at a time"
source = "Delimitrou 2015, §4.5, single batch job"
notes = [
  "60 hours lie between submissions, so that each has the cluster for itself; durations of 2 to 20 hours are those of the text",
  "users reserve with the published error instead of what Hadoop's own scheduler asks for",
  "performance is the share of the target that was reached",
]

population "hadoop" {
  classes      = ["hadoop"]
  jobs         = 10
  targets      = true
  reservations = "published"

  arrivals "constant" {
    every = "60h"
  }

  duration "loguniform" {
    low  = "2h"
    high = "20h"
  }
}

profiling {
  time = "1m"
}

world {
  window = "1m"
}

base   = "quasar.base.hcl"
title  = "Quasar: 24 data-processing jobs and best-effort work on 40 servers"
source = "Delimitrou 2015, §4.5, multiple batch frameworks"
notes = [
  "16 Hadoop, 4 Storm and 4 Spark jobs are all drawn as one class of data-processing jobs",
  "durations of 20 to 60 minutes, and of 1 to 3 minutes for best-effort work, are ours",
  "users reserve with the published error; performance is the share of the target that was reached, of best-effort work that of the ideal",
]

population "primary" {
  classes      = ["hadoop"]
  jobs         = 24
  targets      = true
  reservations = "published"
  priority     = 50

  arrivals "constant" {
    every = "5s"
  }

  duration "loguniform" {
    low  = "20m"
    high = "1h"
  }
}

population "filler" {
  classes     = ["single-node"]
  jobs        = 3000
  best_effort = true

  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "1m"
    high = "3m"
  }
}

profiling {
  time = "5s"
}

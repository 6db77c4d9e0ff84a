base   = "arq-jobs.base.hcl"
title  = "ARQ on 40 servers, the shortest first"
source = "Delimitrou 2015, §6.7, table 6.2"
notes = [
  "submissions and durations as in arq-over",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
policies = ["arq-sjf", "arq", "arq-oracle", "paragon", "least-loaded", "nomad-binpack", "nomad-spread"]

population "arq" {
  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "30m"
    high = "2h"
  }
}

policy "arq-sjf" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { order = "sjf" }
}
policy "arq-oracle" {
  admission_options = { order = "sjf" }
}

base   = "arq-jobs.base.hcl"
title  = "ARQ on 40 servers, low load"
source = "Delimitrou 2015, §6.5"
notes = [
  "durations of 2 to 8 minutes are ours: 22 % of the cores are wanted when all runs as fast as it can",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
policies = ["arq", "arq-oracle", "paragon", "least-loaded", "paragon-unordered", "nomad-binpack", "nomad-spread"]

population "arq" {
  arrivals "constant" {
    every = "10s"
  }

  duration "loguniform" {
    low  = "2m"
    high = "8m"
  }
}

policy "paragon-unordered" {
  selector  = "paragon"
  admission = "none"
}

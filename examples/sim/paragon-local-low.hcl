base  = "paragon.base.hcl"
title = "Paragon on 40 servers, low load"
notes = [
  "durations of 2 to 8 minutes are ours: 22 % of the cores are wanted when all runs as fast as it can",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

population "paragon" {
  arrivals "constant" {
    every = "10s"
  }

  duration "loguniform" {
    low  = "2m"
    high = "8m"
  }
}

base  = "paragon-local-low.hcl"
title = "Paragon on 40 servers, oversubscribed"
notes = [
  "durations of 5 to 30 minutes are ours: 150 % of the cores are wanted once all have arrived",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

population "paragon" {
  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "5m"
    high = "30m"
  }
}

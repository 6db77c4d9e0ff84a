base  = "paragon.base.hcl"
title = "Paragon on 40 servers, medium load"
notes = [
  "arrival times are Gaussian over the same 1,780 s: the reading that explains the figure; Gaussian gaps of variance 1 are practically constant",
  "durations of 3 to 10 minutes are ours: 67 % of the cores are wanted at the peak when all runs as fast as it can, and all of them at the speeds the baselines were published to reach",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

population "paragon" {
  arrivals "gaussian_times" {
    middle = "890s"
    sigma  = "297s"
  }

  duration "loguniform" {
    low  = "3m"
    high = "10m"
  }
}

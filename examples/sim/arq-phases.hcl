base   = "arq-jobs.base.hcl"
title  = "ARQ on 40 servers, workloads with phases"
source = "Delimitrou 2015, §6.5"
notes = [
  "the text says minutes to hours; 5 minutes to 4 hours are ours, as in arq-over, and one core to an allocation: two thirds of the cores are wanted when the last job comes",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

population "arq" {
  phases     = 3
  most_cores = 1

  arrivals "gaussian_gaps" {
    every = "10s"
    sigma = "1s"
  }

  duration "loguniform" {
    low  = "5m"
    high = "4h"
  }
}

base   = "arq-jobs.base.hcl"
title  = "ARQ on 40 servers, oversubscribed"
source = "Delimitrou 2015, §6.5"
notes = [
  "the text says minutes to hours; 5 minutes to 4 hours are ours",
  "one core to an allocation is ours: all are there after three minutes and want as many cores as there are, the slow ones included. 88 % were published to keep QoS, and who has to wait for another's end does not: so no more than 114 % of the cores can have been wanted",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

population "arq" {
  most_cores = 1

  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "5m"
    high = "4h"
  }
}

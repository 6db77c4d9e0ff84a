base  = "arq-over.hcl"
title = "ARQ on 1,000 servers, oversubscribed"
notes = [
  "durations of 17 to 75 minutes are ours: 76 % of the cores are wanted, and all of them from the burst on, when all runs as fast as it can. 99 % were published to lose less than a tenth, so no more can have been wanted",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

cluster {
  shape = "paragon-ec2-1000"
}

population "arq" {
  jobs          = 8500
  equal_classes = true
  most_cores    = 0 # as the class has them

  arrivals "constant" {
    burst {
      after = 3750
      jobs  = 1000
      every = "50ms"
    }
  }

  duration "loguniform" {
    low  = "17m"
    high = "1h15m"
  }
}

profiling {
  training = 50
}

base   = "ibench.base.hcl"
title  = "iBench: 200 applications on 40 nodes"
source = "Delimitrou 2015, §5.5.1, scenario 1"
notes = [
  "durations of 5 to 30 minutes are ours: 160 % of the cores are wanted once all have arrived, as in the published makespans of 17,500 s and more",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

population "ibench" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  weights      = [29, 22, 140, 10]
  applications = 201
  jobs         = 200

  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "5m"
    high = "30m"
  }
}

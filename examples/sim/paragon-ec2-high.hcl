base  = "paragon.base.hcl"
title = "Paragon on 1,000 servers, high load"
notes = [
  "durations of 20 to 90 minutes are ours, the same in all EC2 scenarios: 91 % of the cores are wanted from the first hour on when all runs as fast as it can",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
policies = ["paragon", "paragon-statistical", "paragon-planned", "nh", "ni", "least-loaded", "paragon-oracle", "nomad-binpack", "nomad-spread"]

cluster {
  shape = "paragon-ec2-1000"
}

population "paragon" {
  jobs          = 5000
  equal_classes = true

  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "20m"
    high = "1h30m"
  }
}

profiling {
  training = 50
}

policy "paragon-statistical" {}

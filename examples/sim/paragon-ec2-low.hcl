base  = "paragon-ec2-high.hcl"
title = "Paragon on 1,000 servers, low load"
notes = [
  "durations of 20 to 90 minutes are ours, the same in all EC2 scenarios: 70 % of the cores are wanted at the end, 47 % on average when all runs as fast as it can",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

population "paragon" {
  jobs = 2500
}

base  = "paragon-ec2-high.hcl"
title = "Paragon on 1,000 servers, oversubscribed"
notes = [
  "durations of 20 to 90 minutes are ours, the same in all EC2 scenarios: 91 % of the cores are wanted, and 120 % from the burst on when all runs as fast as it can",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

population "paragon" {
  jobs = 8500

  arrivals "constant" {
    burst {
      after = 3750
      jobs  = 1000
      every = "50ms"
    }
  }
}

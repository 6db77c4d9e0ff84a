title  = "Paragon on 1,000 servers, oversubscribed"
source = "Delimitrou 2015, §3.4"
notes = [
  "durations of 20 to 90 minutes are ours, the same in all EC2 scenarios: 91 % of the cores are wanted, and 120 % from the burst on when all runs as fast as it can",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "paragon-ec2-1000"
}

population "paragon" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  weights      = [29, 22, 350, 25]
  applications = 426
  jobs         = 8500
  equal_classes = true

  arrivals "constant" {
    every = "1s"
    burst {
      after = 3750
      jobs  = 1000
      every = "50ms"
    }
  }

  duration "loguniform" {
    low  = "20m"
    high = "1h30m"
  }
}

profiling {
  training = 50
}

policy "paragon" {}
policy "paragon-statistical" {}
policy "paragon-planned" {
  selector  = "paragon"
  knowledge = "planned"
}
policy "nh" {}
policy "ni" {}
policy "least-loaded" {}
policy "paragon-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread"  { admission = "none" }

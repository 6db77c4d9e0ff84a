title  = "Paragon on 1,000 servers, low load"
source = "Delimitrou 2015, §3.4"
notes = [
  "durations of 30 minutes to 3 hours are ours: they give the load classes of the text on 4,960 cores and overheads of about the published 1.2 %",
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
  jobs         = 2500
  equal_classes = true

  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "30m"
    high = "2h30m"
  }
}

profiling {
  training = 50
}

policy "paragon" {}
policy "paragon-statistical" {}
policy "nh" {}
policy "ni" {}
policy "least-loaded" {}
policy "paragon-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread"  { admission = "none" }

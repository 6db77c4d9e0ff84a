title  = "Paragon on 40 servers, oversubscribed"
source = "Delimitrou 2015, §3.4"
notes = [
  "durations of 5 to 30 minutes are ours: 150 % of the cores are wanted once all have arrived",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "paragon-local-40"
}

population "paragon" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  weights      = [29, 22, 350, 25]
  applications = 426
  jobs         = 178

  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "5m"
    high = "30m"
  }
}

policy "paragon" {}
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

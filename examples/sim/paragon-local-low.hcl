title  = "Paragon on 40 servers, low load"
source = "Delimitrou 2015, §3.4"
notes = [
  "durations of 2 to 8 minutes are ours: 22 % of the cores are wanted when all runs as fast as it can",
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
    every = "10s"
  }

  duration "loguniform" {
    low  = "2m"
    high = "8m"
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

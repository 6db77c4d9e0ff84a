title  = "Paragon on 40 servers, medium load"
source = "Delimitrou 2015, §3.4"
notes = [
  "arrival times are Gaussian over the same 1,780 s: the reading that explains the figure; Gaussian gaps of variance 1 are practically constant",
  "durations of 3 to 10 minutes are ours: 67 % of the cores are wanted at the peak when all runs as fast as it can, and all of them at the speeds the baselines were published to reach",
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

  arrivals "gaussian_times" {
    middle = "890s"
    sigma = "297s"
  }

  duration "loguniform" {
    low  = "3m"
    high = "10m"
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

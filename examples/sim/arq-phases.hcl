title  = "ARQ on 40 servers, workloads with phases"
source = "Delimitrou 2015, §6.5"
notes = [
  "durations of 6 to 24 minutes are ours: 67 % of the cores are wanted when all runs as fast as it can, and all of them at the speeds the baselines were published to reach",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "paragon-local-40"
}

population "arq" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  weights      = [29, 22, 350, 12]
  applications = 413
  jobs         = 178
  phases       = 3

  arrivals "gaussian_gaps" {
    every = "10s"
    sigma = "1s"
  }

  duration "loguniform" {
    low  = "6m"
    high = "24m"
  }
}

policy "arq" {
  selector  = "paragon"
  admission = "arq"
}
policy "arq-oracle" {
  selector  = "paragon"
  admission = "arq"
  knowledge = "oracle"
}
policy "paragon" {}
policy "least-loaded" {}
policy "paragon-unordered" {
  selector  = "paragon"
  admission = "none"
}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

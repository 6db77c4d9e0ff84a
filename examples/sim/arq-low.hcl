title  = "ARQ on 40 servers, low load"
source = "Delimitrou 2015, §6.5"
notes = [
  "durations of 2 to 8 minutes are ours: 22 % of the cores are wanted when all runs as fast as it can",
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

  arrivals "constant" {
    every = "10s"
  }

  duration "loguniform" {
    low  = "2m"
    high = "8m"
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

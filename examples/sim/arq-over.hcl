title  = "ARQ on 40 servers, oversubscribed"
source = "Delimitrou 2015, §6.5"
notes = [
  "durations of 30 minutes to 2 hours are ours: shorter jobs have no window of 5 %; 150 % of the cores are wanted once all have arrived",
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
    every = "1s"
  }

  duration "loguniform" {
    low  = "30m"
    high = "2h"
  }
}

policy "arq" {
  selector  = "paragon"
  admission = "arq"
}
policy "paragon" {}
policy "least-loaded" {}
policy "paragon-unordered" {
  selector  = "paragon"
  admission = "none"
}
policy "nomad-binpack" { admission = "none" }

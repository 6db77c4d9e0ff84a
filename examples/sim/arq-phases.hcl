title  = "ARQ on 40 servers, workloads with phases"
source = "Delimitrou 2015, §6.5"
notes = [
  "the text says minutes to hours; 5 minutes to 4 hours are ours, as in arq-over, and one core to an allocation: two thirds of the cores are wanted when the last job comes",
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
  most_cores   = 1

  arrivals "gaussian_gaps" {
    every = "10s"
    sigma = "1s"
  }

  duration "loguniform" {
    low  = "5m"
    high = "4h"
  }
}

policy "arq" {
  selector  = "paragon"
  admission = "arq"
}
policy "arq-printed" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { configurations = "any" }
}
policy "arq-planned" {
  selector  = "paragon"
  admission = "arq"
  knowledge = "planned"
}
policy "arq-oracle" {
  selector  = "paragon"
  admission = "arq"
  knowledge = "oracle"
}
policy "paragon" {}
policy "paragon-planned" {
  selector  = "paragon"
  knowledge = "planned"
}
policy "paragon-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "least-loaded" {}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

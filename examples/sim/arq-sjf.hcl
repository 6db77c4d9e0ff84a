title  = "ARQ on 40 servers, the shortest first"
source = "Delimitrou 2015, §6.7, table 6.2"
notes = [
  "submissions and durations as in arq-over",
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

policy "arq-sjf" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { order = "sjf" }
}
policy "arq" {
  selector  = "paragon"
  admission = "arq"
}
policy "arq-oracle" {
  selector          = "paragon"
  admission         = "arq"
  knowledge         = "oracle"
  admission_options = { order = "sjf" }
}
policy "paragon" {}
policy "least-loaded" {}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

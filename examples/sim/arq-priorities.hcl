base   = "arq.base.hcl"
title  = "ARQ on 40 servers with two priorities"
source = "Delimitrou 2015, §6.7, table 6.3"
notes = [
  "a fifth of the submissions has priority 80, the others 50; durations as in arq-over",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
policies = ["arq-priorities", "arq", "arq-oracle", "paragon", "least-loaded", "nomad-binpack", "nomad-spread"]

population "high" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  weights      = [29, 22, 350, 12]
  applications = 413
  jobs         = 36
  priority     = 80

  arrivals "constant" {
    every = "5s"
  }

  duration "loguniform" {
    low  = "30m"
    high = "2h"
  }
}

population "low" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  weights      = [29, 22, 350, 12]
  applications = 413
  jobs         = 142
  priority     = 50

  arrivals "constant" {
    every = "1250ms"
  }

  duration "loguniform" {
    low  = "30m"
    high = "2h"
  }
}

policy "arq-priorities" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { priorities = "yes" }
}
policy "arq-oracle" {
  admission_options = { priorities = "yes" }
}

base   = "arq-jobs.base.hcl"
title  = "ARQ on 40 servers, oversubscribed, by the number of classes"
source = "Delimitrou 2015, §6.6, figure 6.5b"
notes = [
  "submissions as in arq-over; one class is a single queue",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
policies = ["arq-1", "arq-2", "arq-5", "arq-10", "arq-20", "arq-50", "paragon", "arq-oracle", "least-loaded", "nomad-binpack", "nomad-spread"]

population "arq" {
  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "30m"
    high = "2h"
  }
}

policy "arq-1" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { classes = "1" }
}
policy "arq-2" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { classes = "2" }
}
policy "arq-5" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { classes = "5" }
}
policy "arq-10" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { classes = "10" }
}
policy "arq-20" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { classes = "20" }
}
policy "arq-50" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { classes = "50" }
}

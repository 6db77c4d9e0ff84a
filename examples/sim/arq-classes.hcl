title  = "ARQ on 40 servers, oversubscribed, by the number of classes"
source = "Delimitrou 2015, §6.6, figure 6.5b"
notes = [
  "submissions as in arq-over; one class is a single queue",
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
policy "paragon" {}
policy "arq-oracle" {
  selector  = "paragon"
  admission = "arq"
  knowledge = "oracle"
}
policy "least-loaded" {}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

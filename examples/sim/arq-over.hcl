title  = "ARQ on 40 servers, oversubscribed"
source = "Delimitrou 2015, §6.5"
notes = [
  "the text says minutes to hours; 5 minutes to 4 hours are ours",
  "one core to an allocation is ours: all are there after three minutes and want as many cores as there are, the slow ones included. 88 % were published to keep QoS, and who has to wait for another's end does not: so no more than 114 % of the cores can have been wanted",
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
  most_cores   = 1

  arrivals "constant" {
    every = "1s"
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

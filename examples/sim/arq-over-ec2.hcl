title  = "ARQ on 1,000 servers, oversubscribed"
source = "Delimitrou 2015, §6.5"
notes = [
  "durations of 17 to 75 minutes are ours: 76 % of the cores are wanted, and all of them from the burst on, when all runs as fast as it can. 99 % were published to lose less than a tenth, so no more can have been wanted",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "paragon-ec2-1000"
}

population "arq" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  weights      = [29, 22, 350, 12]
  applications = 413
  jobs         = 8500
  equal_classes = true

  arrivals "constant" {
    every = "1s"
    burst {
      after = 3750
      jobs  = 1000
      every = "50ms"
    }
  }

  duration "loguniform" {
    low  = "17m"
    high = "1h15m"
  }
}

profiling {
  training = 50
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

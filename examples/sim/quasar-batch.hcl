title  = "Quasar: ten Hadoop jobs, one at a time"
source = "Delimitrou 2015, §4.5, single batch job"
notes = [
  "60 hours lie between submissions, so that each has the cluster for itself; durations of 2 to 20 hours are those of the text",
  "users reserve with the published error instead of what Hadoop's own scheduler asks for",
  "performance is the share of the target that was reached",
]
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "quasar-local-40"
}

population "hadoop" {
  classes      = ["hadoop"]
  jobs         = 10
  targets      = true
  reservations = "published"

  arrivals "constant" {
    every = "60h"
  }

  duration "loguniform" {
    low  = "2h"
    high = "20h"
  }
}

profiling {
  time     = "1m"
  training = 40
}

world {
  window = "1m"
}

policy "quasar" {
  sizing  = "policy"
  adapter = "quasar"
}
policy "quasar-planned" {
  selector  = "quasar"
  sizing    = "policy"
  knowledge = "planned"
  adapter   = "quasar"
}
policy "quasar-oracle" {
  selector  = "quasar"
  sizing    = "policy"
  knowledge = "oracle"
  adapter   = "quasar"
}
policy "autoscale" {
  sizing = "policy"
}
policy "reservation-paragon" {}
policy "reservation-ll" {}
policy "least-loaded" {}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

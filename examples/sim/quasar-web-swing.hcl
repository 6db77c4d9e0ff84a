title  = "Quasar: web services under a load that swings, and best-effort work"
source = "Delimitrou 2015, §4.5, low-latency service"
notes = [
  "a sine of an hour and half the load; the text has a picture only",
  "eight services instead of one; best-effort jobs of 3 to 12 minutes, 5 s apart, are ours",
  "performance is the share of a service's load that was served, of best-effort work that of the ideal",
]
seeds = [1, 2, 3, 4, 5]
limit = "48h"

cluster {
  shape = "quasar-local-40"
}

population "services" {
  classes      = ["web"]
  jobs         = 8
  targets      = true
  reservations = "published"
  priority     = 50
  load_swing   = 0.5
  load_period  = "1h"

  arrivals "constant" {
    every = "10s"
  }

  duration "fixed" {
    value = "4h"
  }
}

population "filler" {
  classes     = ["single-node"]
  jobs        = 2880
  best_effort = true

  arrivals "constant" {
    every = "5s"
  }

  duration "loguniform" {
    low  = "3m"
    high = "12m"
  }
}

profiling {
  time     = "15s"
  training = 40
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

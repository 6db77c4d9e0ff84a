title  = "Quasar: services with state over a day, and best-effort work"
source = "Delimitrou 2015, §4.5, stateful services"
notes = [
  "ten memcached services with a sine of a day and half the load; the simulated world has no Cassandra",
  "best-effort jobs 10 s apart as in the text; their 3 to 12 minutes are ours",
  "performance is the share of a service's load that was served, of best-effort work that of the ideal",
]
seeds = [1, 2, 3, 4, 5]
limit = "48h"

cluster {
  shape = "quasar-local-40"
}

population "services" {
  classes      = ["memcached"]
  jobs         = 10
  targets      = true
  reservations = "published"
  priority     = 50
  load_swing   = 0.5
  load_period  = "24h"

  arrivals "constant" {
    every = "10s"
  }

  duration "fixed" {
    value = "24h"
  }
}

population "filler" {
  classes     = ["single-node"]
  jobs        = 8640
  best_effort = true

  arrivals "constant" {
    every = "10s"
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

base   = "quasar.base.hcl"
title  = "Quasar: web services under a flat load, and best-effort work"
source = "Delimitrou 2015, §4.5, low-latency service"
notes = [
  "eight services instead of one, so that a seed is not one draw; best-effort jobs of 3 to 12 minutes, 5 s apart, are ours",
  "performance is the share of a service's load that was served, of best-effort work that of the ideal",
]
limit = "48h"

population "services" {
  classes      = ["web"]
  jobs         = 8
  targets      = true
  reservations = "published"
  priority     = 50

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
  time = "15s"
}

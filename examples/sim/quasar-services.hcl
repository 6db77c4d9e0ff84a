base   = "quasar-web-flat.hcl"
title  = "Quasar: services with state over a day, and best-effort work"
source = "Delimitrou 2015, §4.5, stateful services"
notes = [
  "ten memcached services with a sine of a day and half the load; the simulated world has no Cassandra",
  "best-effort jobs 10 s apart as in the text; their 3 to 12 minutes are ours",
  "performance is the share of a service's load that was served, of best-effort work that of the ideal",
]

population "services" {
  classes     = ["memcached"]
  jobs        = 10
  load_swing  = 0.5
  load_period = "24h"

  duration "fixed" {
    value = "24h"
  }
}

population "filler" {
  jobs = 8640

  arrivals "constant" {
    every = "10s"
  }
}

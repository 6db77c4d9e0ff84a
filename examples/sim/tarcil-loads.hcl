base   = "tarcil.base.hcl"
title  = "Tarcil on 100 servers: short tasks by load"
source = "Delimitrou 2015, §7.6"
notes = [
  "tasks of 100 ms, 20 to a job; profiles are known beforehand, as in the text",
  "decisions take the time of the stated cost model; results depend on it",
]
loads = [0.3, 0.5, 0.7, 0.8, 0.9]

cluster {
  shape = "tarcil-100"
}

population "short" {
  classes      = ["ST"]
  platforms    = "published"
  applications = 50
  jobs         = 3000
  shape        = "tasks"
  tasks        = 20

  arrivals "poisson" {
    by_load = true
  }

  duration "fixed" {
    value = "100ms"
  }
}

world {
  sample_every = "100ms"
}

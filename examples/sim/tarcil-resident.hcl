base   = "tarcil.base.hcl"
title  = "Tarcil on 100 servers with resident services"
source = "Delimitrou 2015, §7.6, figures 7.12b and 7.13"
notes = [
  "tasks of 100 ms, 20 to a job; profiles are known beforehand, as in the text",
  "36 memcached services hold 40 % of the cores for 15 s; the tasks want 35 % more",
  "the text has 300,000 jobs in 900 s: 2,000 at the same rate per core are ours",
  "decisions take the time of the stated cost model; results depend on it",
]
loads = [0.35]

cluster {
  shape = "tarcil-100-heterogeneous"
}

population "resident" {
  classes  = ["memcached"]
  jobs     = 36
  targets  = true
  priority = 50

  arrivals "constant" {
    every = "20ms"
  }

  duration "fixed" {
    value = "15s"
  }
}

population "tasks" {
  classes      = ["ST", "IO"]
  platforms    = "published"
  applications = 50
  jobs         = 2000
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
  sample_every = "500ms"
}

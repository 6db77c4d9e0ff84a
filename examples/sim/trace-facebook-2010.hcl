base   = "trace.base.hcl"
title  = "Facebook 2010: an hour of MapReduce jobs on 40 servers"
source = "SWIM, FB-2010 samples (Chen and others 2011)"
notes = [
  "applications with interference are drawn from the classes; the trace has none",
  "the trace has bytes and no sizes or durations: cores, memory and durations are drawn",
]
limit = "4h"

cluster {
  shape = "quasar-local-40"
}

trace "facebook-swim" {
  path  = "../../../shared/data/facebook-swim"
  files = ["fb2010_first_12_h.csv.gz"]
  to    = "1h"

  tasks {
    median = 2
    sigma  = 1
    most   = 100
  }
  task_cores {
    median = 1
  }
  task_memory_mb {
    median = 1024
    sigma  = 0.5
    most   = 8192
  }
  duration "lognormal" {
    median = "1m"
    sigma  = 1
    most   = "1h"
  }

  classes   = ["ST", "MT", "MP", "IO"]
  platforms = "published"
}

base   = "trace.base.hcl"
title  = "Google 2011: an hour of arrivals on 1,000 servers"
source = "Google ClusterData 2011-2"
notes = [
  "applications with interference are drawn from the classes; the trace has none",
  "arrivals of jobs without their tasks: tasks, sizes and durations are drawn as in replay-google.hcl, every other job; at most 200 tasks",
]
limit = "8h"

cluster {
  shape = "paragon-ec2-1000"
}

trace "google-2011" {
  path   = "../../../shared/data/google-2011"
  files  = ["job_arrivals_first.csv.gz"]
  to     = "2h"
  sample = 0.5

  tasks {
    median = 0.16
    sigma  = 3.3
    most   = 200
  }
  task_cores {
    median = 0.8
    sigma  = 0.7
    most   = 8
  }
  task_memory_mb {
    median = 1260
    sigma  = 0.7
    most   = 8192
  }
  duration "lognormal" {
    median = "5m"
    sigma  = 1.5
    most   = "4h"
  }

  classes   = ["ST", "MT", "MP", "IO"]
  platforms = "published"
}

title  = "Google 2011: a day of arrivals on 12,580 machines"
source = "Google ClusterData 2011-2"
notes = [
  "the trace at hand has arrival times of jobs without their tasks: tasks, sizes and durations are drawn, which is stated in the report",
  "applications with interference are drawn too, so that Paragon has something to decide on",
  "1 is the largest machine: 64 cores and 256 GB are a choice, Google did not publish it",
]
seeds = [1]
limit = "24h"

cluster {
  machines = "../../../shared/data/google-2011"

  normalised {
    cores     = 64
    memory_mb = 262144
  }
}

trace "google-2011" {
  path           = "../../../shared/data/google-2011"
  files          = ["job_arrivals_first.csv.gz"]
  to             = "24h"
  tasks          = 30
  task_cores     = 1
  task_memory_mb = 2048
  classes        = ["ST", "MT", "MP", "IO"]
  platforms    = "published"

  duration "lognormal" {
    median = "10m"
    sigma  = 1.5
    most   = "24h"
  }
}

policy "least-loaded" {}
policy "paragon-statistical" {}
policy "paragon" {}

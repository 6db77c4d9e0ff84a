title  = "Google 2011: a day of arrivals on 12,580 machines"
source = "Google ClusterData 2011-2"
notes = [
  "the trace at hand has the tasks that ran when it began with their sizes, and later arrivals of jobs without their tasks: tasks, sizes and durations of these are drawn",
  "drawn so that three of four jobs have one task and the mean job has tens, the median task asks for 2.5 % of the largest machine's cpu, and most jobs last minutes (chosen after what is commonly cited of the whole trace, 25 million tasks of 670,000 jobs; not read off the trace at hand)",
  "memory asked for relative to cpu is that of the tasks at hand: 0.77 of its share, by their medians",
  "the largest machine has 32 hardware threads and 64 GiB, a choice: Google did not publish it",
  "applications with interference are drawn too, so that Paragon has something to decide on; all tasks of a job run the same one",
  "decisions take no time: in the stated cost model, which is of a scheduler for 4,000 cores, a greedy search over all machines would take 43 s",
]
seeds = [1]
limit = "24h"

cluster {
  machines = "../../../shared/data/google-2011"
}

trace "google-2011" {
  path      = "../../../shared/data/google-2011"
  files     = ["initial_tasks.csv.gz", "job_arrivals_first.csv.gz"]
  to        = "24h"
  classes   = ["ST", "MT", "MP", "IO"]
  platforms = "published"

  tasks {
    median = 0.16
    sigma  = 3.3
    most   = 5000
  }

  task_cores {
    median = 0.8
    sigma  = 0.7
    most   = 16
  }

  task_memory_mb {
    median = 1260
    sigma  = 0.7
    most   = 16384
  }

  duration "lognormal" {
    median = "5m"
    sigma  = 1.5
    most   = "24h"
  }
}

world {
  instant_decisions = true
  sample_every      = "5m"
}

policy "least-loaded" {}
policy "paragon-statistical" {}
policy "paragon" {}

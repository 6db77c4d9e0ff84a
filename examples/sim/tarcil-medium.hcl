base   = "tarcil-tasks.base.hcl"
title  = "Tarcil on 200 servers: jobs of 1 to 10 s"
source = "Delimitrou 2015, §7.1, figure 7.1"
notes = [
  "the text does not say which 200 servers: those of Quasar's evaluation; 20 tasks to a job are ours; profiles are known beforehand, as in the text",
  "decisions take the time of the stated cost model; results depend on it",
]
loads = [0.8]

cluster {
  shape = "quasar-ec2-200"
}

population "tasks" {
  classes = ["ST", "MT", "MP", "IO"]
  jobs    = 2000

  duration "loguniform" {
    low  = "1s"
    high = "10s"
  }
}

world {
  sample_every = "1s"
}

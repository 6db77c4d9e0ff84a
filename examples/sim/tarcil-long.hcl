title  = "Tarcil on 200 servers: jobs of 10 s to 10 minutes"
source = "Delimitrou 2015, §7.1, figure 7.1"
notes = [
  "the text does not say which 200 servers: those of Quasar's evaluation; 20 tasks to a job are ours; profiles are known beforehand, as in the text",
  "decisions take the time of the stated cost model; results depend on it",
]
seeds = [1, 2, 3, 4, 5]
loads = [0.8]

cluster {
  shape = "quasar-ec2-200"
}

population "tasks" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  applications = 50
  jobs         = 1000
  shape        = "tasks"
  tasks        = 20

  arrivals "poisson" {
    by_load = true
  }

  duration "loguniform" {
    low  = "10s"
    high = "10m"
  }
}

profiling {
  time = "0s"
}

world {
  sample_every = "10s"
}

policy "tarcil" {
  admission = "tarcil"
  agents    = 10
}
policy "sparrow" {
  admission = "none"
  agents    = 10
}
policy "centralized" {
  selector = "quasar"
  agents   = 1
}
policy "tarcil-oracle" {
  selector  = "tarcil"
  admission = "tarcil"
  knowledge = "oracle"
  agents    = 10
}
policy "least-loaded" { agents = 10 }
policy "nomad-binpack" {
  admission = "none"
  agents    = 10
}
policy "nomad-spread" {
  admission = "none"
  agents    = 10
}

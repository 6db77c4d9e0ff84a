base   = "tarcil-tasks.base.hcl"
title  = "Tarcil on 100 servers by the number of scheduling agents"
source = "Delimitrou 2015, §7.6, figure 7.10"
notes = [
  "tasks of 100 ms, 20 to a job; profiles are known beforehand, as in the text",
  "decisions take the time of the stated cost model; results depend on it",
]
loads    = [0.5, 0.8]
policies = ["tarcil-1", "tarcil-2", "tarcil-3", "tarcil-6", "tarcil-12", "tarcil-24", "least-loaded", "nomad-binpack", "nomad-spread"]

cluster {
  shape = "tarcil-100"
}

population "tasks" {
  classes = ["ST", "IO"]
  jobs    = 1000

  duration "fixed" {
    value = "100ms"
  }
}

world {
  sample_every = "100ms"
}

policy "tarcil-1" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 1
}
policy "tarcil-2" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 2
}
policy "tarcil-3" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 3
}
policy "tarcil-6" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 6
}
policy "tarcil-12" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 12
}
policy "tarcil-24" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 24
}

base   = "tarcil-tasks.base.hcl"
title  = "Tarcil on 100 servers by the number of candidates"
source = "Delimitrou 2015, §7.6, figure 7.9"
notes = [
  "tasks of 100 ms, 20 to a job; profiles are known beforehand, as in the text",
  "decisions take the time of the stated cost model; results depend on it",
]
loads    = [0.3, 0.6, 0.9]
policies = ["tarcil-2", "tarcil-4", "tarcil-8", "tarcil-16", "tarcil-32", "tarcil-64", "tarcil-128", "least-loaded", "nomad-binpack", "nomad-spread"]

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

policy "tarcil-2" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  options   = { candidates = "2", candidates_max = "2" }
}
policy "tarcil-4" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  options   = { candidates = "4", candidates_max = "4" }
}
policy "tarcil-8" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  options   = { candidates = "8", candidates_max = "8" }
}
policy "tarcil-16" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  options   = { candidates = "16", candidates_max = "16" }
}
policy "tarcil-32" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  options   = { candidates = "32", candidates_max = "32" }
}
policy "tarcil-64" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  options   = { candidates = "64", candidates_max = "64" }
}
policy "tarcil-128" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  options   = { candidates = "128", candidates_max = "128" }
}

title  = "Tarcil on 100 servers by the number of scheduling agents"
source = "Delimitrou 2015, §7.6, figure 7.10"
notes = [
  "tasks of 100 ms, 20 to a job; profiles are known beforehand, as in the text",
  "decisions take the time of the stated cost model; results depend on it",
]
seeds = [1, 2, 3, 4, 5]
loads = [0.5, 0.8]

cluster {
  shape = "tarcil-100"
}

population "tasks" {
  classes      = ["ST", "IO"]
  platforms    = "published"
  applications = 50
  jobs         = 1000
  shape        = "tasks"
  tasks        = 20

  arrivals "poisson" {
    by_load = true
  }

  duration "fixed" {
    value = "100ms"
  }
}

profiling {
  time = "0s"
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
policy "least-loaded" { agents = 10 }
policy "nomad-binpack" {
  admission = "none"
  agents    = 10
}
policy "nomad-spread" {
  admission = "none"
  agents    = 10
}

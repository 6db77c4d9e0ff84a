title  = "Tarcil on 400 servers: 7,200 mixed jobs"
source = "Delimitrou 2015, §7.6"
notes = [
  "durations of 10 minutes to 1 hour are ours: two thirds of the cores are wanted; profiles are known beforehand",
  "decisions take the time of the stated cost model; results depend on it",
]
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "tarcil-400"
}

population "mixed" {
  classes       = ["ST", "MT", "MP", "IO"]
  platforms     = "published"
  applications  = 400
  jobs          = 7200
  equal_classes = true

  arrivals "constant" {
    every = "1s"
  }

  duration "loguniform" {
    low  = "10m"
    high = "1h"
  }
}

profiling {
  time     = "0s"
  training = 50
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
  selector  = "quasar"
  agents    = 1
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

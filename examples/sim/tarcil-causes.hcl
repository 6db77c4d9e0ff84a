base   = "tarcil-heterogeneous.hcl"
title  = "Tarcil: what decides, a third of the mixed jobs on 400 servers"
source = "Delimitrou 2015, §7.2, §7.3"
notes = [
  "a third of the jobs of tarcil-heterogeneous, at the same rate",
  "scores-ignored judges servers by configuration alone, speeds-ignored by interference alone, sparrow samples without judging",
  "candidates-8 and -32 always draw so many, instead of as many as the wanted quality asks for; unqueued never waits for suitable servers; measured judges by the scores that are tolerated instead of those that are caused",
  "free has decisions that take no time",
]
policies = [
  "tarcil",
  "tarcil-scores-ignored",
  "tarcil-speeds-ignored",
  "sparrow",
  "tarcil-oracle",
  "tarcil-candidates-8",
  "tarcil-candidates-32",
  "tarcil-unqueued",
  "tarcil-measured",
  "tarcil-free",
  "centralized",
  "centralized-free",
]

population "mixed" {
  jobs = 2400
}

policy "tarcil-scores-ignored" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  ignored   = ["scores"]
}
policy "tarcil-speeds-ignored" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  ignored   = ["speeds"]
}
policy "tarcil-candidates-8" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  options   = { candidates = "8", candidates_max = "8" }
}
policy "tarcil-candidates-32" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  options   = { candidates = "32", candidates_max = "32" }
}
policy "tarcil-unqueued" {
  selector  = "tarcil"
  admission = "none"
  agents    = 10
}
policy "tarcil-measured" {
  selector  = "tarcil"
  admission = "tarcil"
  agents    = 10
  options   = { tolerated = "measured" }
}
policy "tarcil-free" {
  selector       = "tarcil"
  admission      = "tarcil"
  agents         = 10
  free_decisions = true
}
policy "centralized-free" {
  selector       = "quasar"
  agents         = 1
  free_decisions = true
}

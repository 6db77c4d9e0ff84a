base  = "lsh.base.hcl"
title = "LSH on 50 servers, default data centre, high load"
notes = [
  "198 workloads, as in the paper; durations of 1 to 4 minutes are ours: nearly all of the cores are wanted at the peak",
  "scores are known beforehand: at two arrivals a second 120 workloads would be profiled at any time on 50 servers, so the paper must have replayed stored ones; lsh-default-charged counts the minute",
  "the two sources are those that lsh-2f finds to bear least error, in other applications",
  "configurations differ by clock, generation, cache and memory (hardware): a list from best to worst, as the paper keeps for every source, exists only then",
  "performance is taken while a job runs; with_wait counts queueing; what lsh refuses waits and is tried again whenever a node gains room, as in the paper, and paragon relaxes its bounds instead",
]
seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

profiling {
  time     = "0s"
  training = 150
  sources  = ["mem_bw", "llc_cap"]
}

policy "lsh" {
  knowledge = "hashed"
  admission = "none"
}
policy "lsh-fifo" {
  selector  = "lsh"
  knowledge = "hashed"
}
policy "paragon" {}
policy "paragon-hashed" {
  selector  = "paragon"
  knowledge = "hashed"
}
policy "lsh-oracle" {
  selector  = "lsh"
  knowledge = "oracle"
  admission = "none"
}
policy "paragon-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "least-loaded" {}
policy "random" {}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

base  = "lsh-default-high.hcl"
title = "LSH: what decides, default data centre, high load"
notes = [
  "198 workloads, as in the paper; durations of 1 to 4 minutes are ours: nearly all of the cores are wanted at the peak; scores are known beforehand",
  "scores-ignored knows configurations alone, speeds-ignored interference alone, oracle the truth of both",
  "sources-1 and -4 measure fewer or more of the sources that bear least error; knn completes from the nearest of all rows instead of those that a hash finds, cf-log as Paragon does",
  "paragon-hashed has LSH's scores and Paragon's rule, paragon both of Paragon; free has decisions that take no time",
]
policies = [
  "lsh",
  "lsh-scores-ignored",
  "lsh-speeds-ignored",
  "lsh-oracle",
  "lsh-sources-1",
  "lsh-sources-4",
  "lsh-knn",
  "lsh-cf-log",
  "paragon-hashed",
  "paragon",
  "lsh-free",
]

policy "lsh-scores-ignored" {
  selector  = "lsh"
  knowledge = "hashed"
  admission = "none"
  ignored   = ["scores"]
}
policy "lsh-speeds-ignored" {
  selector  = "lsh"
  knowledge = "hashed"
  admission = "none"
  ignored   = ["speeds"]
}
policy "lsh-sources-1" {
  selector  = "lsh"
  knowledge = "hashed"
  admission = "none"
  sources   = ["mem_bw"]
}
policy "lsh-sources-4" {
  selector  = "lsh"
  knowledge = "hashed"
  admission = "none"
  sources   = ["mem_bw", "llc_cap", "llc_bw", "int"]
}
policy "lsh-knn" {
  selector   = "lsh"
  knowledge  = "hashed"
  admission  = "none"
  classifier = "knn"
}
policy "lsh-cf-log" {
  selector   = "lsh"
  knowledge  = "hashed"
  admission  = "none"
  classifier = "cf-log"
}
policy "lsh-free" {
  selector       = "lsh"
  knowledge      = "hashed"
  admission      = "none"
  free_decisions = true
}

base  = "lotes-a-mean-015.hcl"
title = "LoTES: what decides, jobs that need what their class does on average"
notes = [
  "4 hours of lotes-a-mean-015, at rising loads; jobs state their class, whose means LoTES knows, and Tetris knows how long each job will run",
  "support lets machines mix the classes that the first program uses only",
  "unqueued keeps the plan's routes and one queue without classes; impatient lets what has waited for a minute take any room",
  "lotes-causes-learnt: classes are not stated but learnt from the jobs that came; lotes-causes-varied: needs of a job vary by half around its class's, as printed",
  "tetris-packs is Tetris without its preference for short and small jobs; greedy-fit takes what fits best",
]
loads = [0.97, 1.03]
policies = [
  "lotes",
  "lotes-support",
  "lotes-unqueued",
  "lotes-impatient",
  "tetris",
  "tetris-packs",
  "greedy-fit",
]

job_classes {
  for = "4h"
}

policy "lotes-support" {
  selector          = "lotes"
  admission         = "lotes"
  admission_options = { pairings = "support" }
}
policy "lotes-unqueued" {
  selector  = "lotes"
  admission = "none"
}
policy "lotes-impatient" {
  selector          = "lotes"
  admission         = "lotes"
  admission_options = { patience = "1m" }
}
policy "tetris-packs" {
  selector          = "tetris"
  admission         = "tetris"
  options           = { epsilon = "0" }
  admission_options = { epsilon = "0" }
}

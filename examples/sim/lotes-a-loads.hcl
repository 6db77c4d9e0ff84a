base  = "lotes-a-phi-015.hcl"
title = "LoTES, experiment A: needs of classes differ by 0.015, at rising loads"
notes = [
  "20 machines of each of the ten kinds instead of 1,000, and 12 hours instead of 100: the structure is that of the paper, the queues are shorter",
  "mean times of classes are uniform on 0.02 to 1 hour: below that one instance could hang on one class",
  "jobs state their class, whose means LoTES knows, as in the paper; Tetris knows how long each job will run",
  "load is a share of the optimum of the machine assignment program, for each instance; jobs whose needs vary pack closer than mean jobs do, so that more than 1 can be served",
  "tetris-packs is Tetris without its preference for short and small jobs",
]
seeds    = [21, 22, 23, 24, 25]
loads    = [0.97, 1.03]
policies = ["lotes", "tetris", "greedy-fit", "tetris-packs", "lotes-all-pairings"]

job_classes {
  for = "12h"
}

policy "tetris-packs" {
  selector          = "tetris"
  admission         = "tetris"
  options           = { epsilon = "0" }
  admission_options = { epsilon = "0" }
}
policy "lotes-all-pairings" {
  selector          = "lotes"
  admission         = "lotes"
  admission_options = { pairings = "all" }
}

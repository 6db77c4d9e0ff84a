base  = "lotes-a-phi-000.hcl"
title = "LoTES, experiment A, jobs need what their class does on average: needs of classes differ by 0"
notes = [
  "a reading: every job needs exactly its class's means, as the bins of the program have it; in the text needs of a job vary by half",
  "20 machines of each of the ten kinds instead of 1,000, and 12 hours instead of 100: the structure is that of the paper, the queues are shorter",
  "mean times of classes are uniform on 0.02 to 1 hour: below that one instance could hang on one class",
  "jobs state their class, whose means LoTES knows, as in the paper; Tetris knows how long each job will run",
  "load is a share of the optimum of the machine assignment program, for each instance",
]
seeds = [21, 22, 23, 24, 25]

job_classes {
  for       = "12h"
  variation = 0
}

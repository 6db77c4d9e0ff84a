base  = "lotes-a-phi-000.hcl"
title = "LoTES, experiment A, one draw for both needs: needs of classes differ by 0"
notes = [
  "a reading: a job needs as much more or less than its class's mean of memory as of CPU; the text draws for each resource, and such jobs pack closer than the bins of mean jobs by which it sets the load",
  "20 machines of each of the ten kinds instead of 1,000, and 12 hours instead of 100: the structure is that of the paper, the queues are shorter",
  "mean times of classes are uniform on 0.02 to 1 hour: below that one instance could hang on one class",
  "jobs state their class, whose means LoTES knows, as in the paper; Tetris knows how long each job will run",
  "load is a share of the optimum of the machine assignment program, for each instance",
]
seeds = [21, 22, 23, 24, 25]

job_classes {
  for      = "12h"
  one_draw = true
}

base   = "lotes-b-omega-00.hcl"
title  = "LoTES, experiment B, jobs need what their class does on average: rates of a class differ by 0 between kinds of machines"
notes = [
  "a reading: every job needs exactly its class's means, as the bins of the program have it; in the text needs of a job vary by half",
  "20 machines of each of the ten kinds instead of 1,000, and 12 hours instead of 100",
  "the rate of a class on a kind of machine is its mean rate times a factor drawn from 1 - omega to 1 + omega: the text states it the other way round, which would contradict experiment A",
  "needs of classes differ by 0.006: the printed 0.06 would make some negative",
  "jobs state their class, whose means LoTES knows, as in the paper; Tetris knows how long each job will run on each kind of machine",
  "arrivals are split over kinds of machines by their flow",
]
seeds = [21, 22, 23, 24, 25]

job_classes {
  for       = "12h"
  variation = 0
}

base   = "lotes-b-omega-00.hcl"
title  = "LoTES, experiment B, one draw for both needs: rates of a class differ by 0 between kinds of machines"
notes = [
  "a reading: a job needs as much more or less than its class's mean of memory as of CPU; the text draws for each resource, and such jobs pack closer than the bins of mean jobs by which it sets the load",
  "20 machines of each of the ten kinds instead of 1,000, and 12 hours instead of 100",
  "the rate of a class on a kind of machine is its mean rate times a factor drawn from 1 - omega to 1 + omega: the text states it the other way round, which would contradict experiment A",
  "needs of classes differ by 0.006: the printed 0.06 would make some negative",
  "jobs state their class, whose means LoTES knows, as in the paper; Tetris knows how long each job will run on each kind of machine",
  "arrivals are split over kinds of machines by their flow",
]
seeds = [21, 22, 23, 24, 25]

job_classes {
  for      = "12h"
  one_draw = true
}

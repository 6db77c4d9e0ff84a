base   = "lotes.base.hcl"
title  = "LoTES, experiment B: rates of a class differ by 0 between kinds of machines"
source = "Tran 2016, §5.4.3"
notes = [
  "20 machines of each of the ten kinds instead of 1,000, and 6 hours instead of 100",
  "the rate of a class on a kind of machine is its mean rate times a factor drawn from 1 - omega to 1 + omega: the text states it the other way round, which would contradict experiment A",
  "needs of classes differ by 0.006: the printed 0.06 would make some negative",
  "jobs state their class, whose means LoTES knows, as in the paper; Tetris knows how long each job will run on each kind of machine",
  "arrivals are split over kinds of machines by their flow; by the stock of jobs in place, as printed, under lotes-stock at omega 0.3",
]
loads    = [0.90, 0.95]
policies = ["lotes", "tetris"]

job_classes {
  phi   = 0.006
  omega = 0
}

title  = "LoTES, experiment B: rates of a class differ by 0.2 between kinds of machines"
source = "Tran 2016, §5.4.3"
notes = [
  "20 machines of each of the ten kinds instead of 1,000, and 6 hours instead of 100",
  "the rate of a class on a kind of machine is its mean rate times a factor drawn from 1 - omega to 1 + omega: the text states it the other way round, which would contradict experiment A",
  "needs of classes differ by 0.006: the printed 0.06 would make some negative",
  "jobs state their class, whose means LoTES knows, as in the paper; Tetris knows how long each job will run on each kind of machine",
  "arrivals are split over kinds of machines by their flow; by the stock of jobs in place, as printed, under lotes-stock at omega 0.3",
]
seeds = [1, 2, 3, 4, 5]
loads = [0.90, 0.95]

cluster {
  kind {
    machines = 20
    cpu      = 0.5
    memory   = 0.5
  }
  kind {
    machines = 20
    cpu      = 0.5
    memory   = 0.25
  }
  kind {
    machines = 20
    cpu      = 0.5
    memory   = 0.75
  }
  kind {
    machines = 20
    cpu      = 1
    memory   = 1
  }
  kind {
    machines = 20
    cpu      = 0.25
    memory   = 0.25
  }
  kind {
    machines = 20
    cpu      = 0.5
    memory   = 0.12
  }
  kind {
    machines = 20
    cpu      = 0.5
    memory   = 0.03
  }
  kind {
    machines = 20
    cpu      = 0.5
    memory   = 0.97
  }
  kind {
    machines = 20
    cpu      = 1
    memory   = 0.5
  }
  kind {
    machines = 20
    cpu      = 1
    memory   = 0.06
  }
}

job_classes {
  for      = "6h"
  drawn    = 9
  need     = 0.025
  phi      = 0.006
  omega    = 0.2
  least    = 0.02
  spread   = 0.5
  declared = true
}

world {
  instant_decisions = true
}

policy "lotes" {
  admission = "lotes"
}
policy "tetris" {
  admission = "tetris"
}

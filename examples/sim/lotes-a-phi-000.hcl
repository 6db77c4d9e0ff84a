title  = "LoTES, experiment A: needs of classes differ by 0"
source = "Tran 2016, §5.4.2"
notes = [
  "20 machines of each of the ten kinds instead of 1,000, and 6 hours instead of 100: the structure is that of the paper, the queues are shorter",
  "mean times of classes are uniform on 0.02 to 1 hour: below that one instance could hang on one class",
  "jobs state their class, whose means LoTES knows, as in the paper; Tetris knows how long each job will run",
  "load is a share of the optimum of the machine assignment program, for each instance",
]
seeds = [1, 2, 3, 4, 5]
loads = [0.97]

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
  phi      = 0
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
policy "greedy-fit" {
  admission = "greedy-fit"
}

# LoTES with drawn classes: 20 machines of each of ten kinds.
seeds = [1, 2, 3, 4, 5]

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
  for       = "6h"
  drawn     = 9
  need      = 0.025
  least     = 0.02
  variation = 0.5
  declared  = true
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

title  = "LoTES: three days of jobs like those of Google's trace, on a fortieth of its machines"
source = "Tran 2016, §5.3"
notes = [
  "a stand-in: the tasks of the month with their sizes and times are not at hand",
  "a fortieth of table 1's machines, at least one of each kind; classes, shares and needs of table 2, needs of a job vary by half around them",
  "times are lognormal and a hundred times those of table 2, so that a run has fewer jobs; the load, a share of what the machines can serve, says how full the cluster is, as the unit of table 2 cannot",
  "the rate of arrivals swings by 8 % over a day, the shares of classes by 30 %; a backlog is there at the start; an hour of half as many jobs again comes at hour 42",
  "nomad-binpack and least-loaded serve one queue in order: trying everything that waits at every end, as stock Nomad does, is too much for a queue of thousands here",
  "jobs do not state their class: LoTES learns four by k-means of their sizes, from the jobs of a sliding day, and their times from those that ended",
]
seeds = [1, 2, 3]
loads = [0.93]

cluster {
  kind {
    machines = 168
    cpu      = 0.5
    memory   = 0.5
  }
  kind {
    machines = 97
    cpu      = 0.5
    memory   = 0.25
  }
  kind {
    machines = 25
    cpu      = 0.5
    memory   = 0.75
  }
  kind {
    machines = 20
    cpu      = 1
    memory   = 1
  }
  kind {
    machines = 3
    cpu      = 0.25
    memory   = 0.25
  }
  kind {
    machines = 1
    cpu      = 0.5
    memory   = 0.12
  }
  kind {
    machines = 1
    cpu      = 0.5
    memory   = 0.03
  }
  kind {
    machines = 1
    cpu      = 0.5
    memory   = 0.97
  }
  kind {
    machines = 1
    cpu      = 1
    memory   = 0.5
  }
  kind {
    machines = 1
    cpu      = 1
    memory   = 0.06
  }
}

job_classes {
  for     = "72h"
  spread  = 0.5
  drift   = 0.3
  swing   = 0.08
  backlog = 8000

  class {
    time   = "180m"
    sigma  = 1
    cpu    = 0.02
    memory = 0.01
    share  = 0.23
  }
  class {
    time   = "240m"
    sigma  = 1
    cpu    = 0.02
    memory = 0.03
    share  = 0.46
  }
  class {
    time   = "240m"
    sigma  = 1
    cpu    = 0.07
    memory = 0.03
    share  = 0.3
  }
  class {
    time   = "180m"
    sigma  = 1
    cpu    = 0.2
    memory = 0.06
    share  = 0.01
  }

  burst {
    at   = "42h"
    for  = "1h"
    rate = 1.5
  }
}

world {
  instant_decisions = true
  sample_every      = "5m"
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
policy "nomad-binpack" {}
policy "least-loaded" {}
policy "lotes-all-pairings" {
  selector          = "lotes"
  admission         = "lotes"
  admission_options = { pairings = "all" }
}

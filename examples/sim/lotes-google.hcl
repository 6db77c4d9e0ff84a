title  = "LoTES: a month of jobs like those of Google's trace, on a fortieth of its machines"
source = "Tran 2016, §5.3"
notes = [
  "from the trace: the tasks that ran when it began, with their sizes and how long they went on, and how many jobs came in each of 69 hours, again and again; the tasks of the month with their sizes and times are not at hand",
  "of the tasks at the start as many as such a part of the cluster had; the file has two thirds of them",
  "a fortieth of table 1's machines, at least one of each kind; classes, shares and needs of table 2, needs of a job vary by half around them",
  "times are lognormal and a hundred times those of table 2, so that a run has fewer jobs; the load, a share of what the machines can serve with the tasks at the start, is not published: two are shown",
  "the shares of classes vary by 30 % over a day (Fig. 7 shows that they vary much)",
  "nomad-binpack and least-loaded serve one queue in order: trying everything that waits at every end, as stock Nomad does, is too much for a queue of thousands here",
  "jobs do not state their class: LoTES learns four by k-means of their sizes, from the jobs of a sliding day, and their times from those that ended",
]
seeds = [21, 22, 23]
loads = [0.80, 0.93]

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
  for       = "720h"
  variation = 0.5
  drift     = 0.3

  trace {
    path     = "../../../shared/data/google-2011"
    initial  = "initial_tasks.csv.gz"
    share    = 0.0379
    arrivals = "job_arrivals_first.csv.gz"
  }
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
}

world {
  instant_decisions = true
  sample_every      = "1h"
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

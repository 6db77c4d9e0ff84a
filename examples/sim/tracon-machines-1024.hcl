title  = "TRACON: 1024 machines, 1,000 tasks a minute"
source = "Chiang and Huang 2011, §4.6, figures 11 and 12"
notes = [
  "applications, their speeds and their requests are those measured in profiler/training/backgrounds; the policies know models learnt beside 125 background workloads",
  "every application runs 2 minutes alone: the slots of the largest clusters of the text by its largest arrival rates",
  "twenty minutes, where the text has ten: the rates are those of a queue that grows all the time",
]
seeds = [1]
limit = "20m"

cluster {}

colocation {
  machines = 1024
  mix      = "medium"
  runtime  = "2m"
  per_minute = 1000
}

world {
  instant_decisions = true
}

policy "fifo" {
  selector = "first-fit"
}
policy "mios" {
  admission = "none"
}
policy "mibs-2" {
  selector  = "mibs"
  admission = "mibs"
  admission_options = {
    queue = "2"
  }
}
policy "mibs-4" {
  selector  = "mibs"
  admission = "mibs"
  admission_options = {
    queue = "4"
  }
}
policy "mibs-8" {
  selector  = "mibs"
  admission = "mibs"
  admission_options = {
    queue = "8"
  }
}
policy "mibs-8-io" {
  selector  = "mibs"
  admission = "mibs"
  admission_options = {
    objective = "iops"
    queue     = "8"
  }
}
policy "mibs-8-oracle" {
  selector  = "mibs"
  admission = "mibs"
  knowledge = "oracle"
  admission_options = {
    queue = "8"
  }
}
policy "mix-8" {
  selector  = "mix"
  admission = "mix"
  admission_options = {
    queue = "8"
  }
}

title  = "TRACON: 10,000 machines, 10,000 tasks a minute"
source = "Chiang and Huang 2011, §4.6"
notes = [
  "applications, their speeds and their requests are those measured in profiler/training/backgrounds; the policies know models learnt beside 125 background workloads",
  "every application runs 2 minutes alone: the slots of the largest clusters of the text by its largest arrival rates",
  "ten minutes, where the text has ten hours",
]
seeds = [1]
limit = "10m"

cluster {}

colocation {
  machines = 10000
  mix      = "medium"
  runtime  = "2m"
  per_minute = 10000
}

world {
  instant_decisions = true
}

policy "fifo" {
  selector = "first-fit"
}
policy "mibs-8" {
  selector  = "mibs"
  admission = "mibs"
  admission_options = {
    queue = "8"
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

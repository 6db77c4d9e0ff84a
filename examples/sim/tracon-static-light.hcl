base   = "tracon.base.hcl"
title  = "TRACON: 64 machines of two slots, all tasks at once, light on the disk"
source = "Chiang and Huang 2011, §4.3, figure 8"
notes = [
  "applications, their speeds and their requests are those measured in profiler/training/backgrounds; the policies know models learnt next to 125 background workloads",
  "every application runs 2 minutes in isolation: the slots of the largest clusters of the text by its largest arrival rates",
  "the queue is the whole list of tasks, of which one schedule is made (§4.2); eight is the queue where tasks keep coming (§4.7)",
]
seeds    = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
policies = ["fifo", "mios", "mibs-rt", "mibs-io", "mibs-alg2", "mibs-paired", "mibs-minmin", "mibs-both", "mibs-rt-oracle", "mibs-io-oracle", "mibs-both-oracle", "mibs-best", "mibs-best-oracle", "mix"]

colocation {
  machines = 64
  mix      = "light"
}

policy "mibs-rt" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { queue = "128" }
}
policy "mibs-io" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { objective = "iops", queue = "128" }
}
policy "mibs-alg2" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { mode = "alg2", queue = "128" }
}
policy "mibs-paired" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { mode = "paired", queue = "128" }
}
policy "mibs-minmin" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { mode = "minmin", queue = "128" }
}
policy "mibs-both" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { counts = "both", queue = "128" }
}
policy "mibs-rt-oracle" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "oracle"
  admission_options = { queue = "128" }
}
policy "mibs-io-oracle" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "oracle"
  admission_options = { objective = "iops", queue = "128" }
}
policy "mibs-both-oracle" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "oracle"
  admission_options = { counts = "both", queue = "128" }
}
policy "mibs-best" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { mode = "best", queue = "128" }
}
policy "mibs-best-oracle" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "oracle"
  admission_options = { mode = "best", queue = "128" }
}
policy "mix" {
  selector          = "mix"
  admission         = "mix"
  admission_options = { queue = "128" }
}

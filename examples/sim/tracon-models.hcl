base   = "tracon.base.hcl"
title  = "TRACON: 32 tasks on 16 machines, a scheduler with each model"
source = "Chiang and Huang 2011, §4.2, figure 4"
notes = [
  "applications, their speeds and their requests are those measured in profiler/training/backgrounds; the policies know models learnt next to 125 background workloads",
  "every application runs 2 minutes in isolation: the slots of the largest clusters of the text by its largest arrival rates",
  "the queue is the whole batch of tasks, of which one schedule is made (§4.4)",
]
seeds    = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
policies = ["fifo", "mibs-rt-nlm", "mibs-io-nlm", "mibs-rt-lm", "mibs-io-lm", "mibs-rt-wmm", "mibs-io-wmm", "mibs-rt-oracle", "mibs-io-oracle"]

colocation {
  machines = 16
  mix      = "uniform"
}

policy "mibs-rt-nlm" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "nlm"
  admission_options = { queue = "32" }
}
policy "mibs-io-nlm" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "nlm"
  admission_options = { objective = "iops", queue = "32" }
}
policy "mibs-rt-lm" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "lm"
  admission_options = { queue = "32" }
}
policy "mibs-io-lm" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "lm"
  admission_options = { objective = "iops", queue = "32" }
}
policy "mibs-rt-wmm" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "wmm"
  admission_options = { queue = "32" }
}
policy "mibs-io-wmm" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "wmm"
  admission_options = { objective = "iops", queue = "32" }
}
policy "mibs-rt-oracle" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "oracle"
  admission_options = { queue = "32" }
}
policy "mibs-io-oracle" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "oracle"
  admission_options = { objective = "iops", queue = "32" }
}

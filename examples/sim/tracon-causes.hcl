base  = "tracon-static-medium.hcl"
title = "TRACON: what decides, all tasks at once, medium on the disk"
policies = [
  "fifo",
  "mibs-rt",
  "mibs-lm",
  "mibs-wmm",
  "mibs-rt-oracle",
  "mibs-both",
  "mibs-both-oracle",
  "mibs-2",
  "mibs-8",
  "mibs-32",
  "mibs-both-8",
  "mibs-io",
  "mibs-best",
  "mibs-best-oracle",
]
notes = [
  "applications, their speeds and their requests are those measured in profiler/training/backgrounds; the policies know models learnt next to 125 background workloads",
  "mibs-rt is the paper's: the nonlinear model, all 128 tasks in the queue, and only what the newcomer loses counts; lm and wmm are its other models, oracle the truth, both counts what both lose, 2, 8 and 32 are lengths of the queue, io has requests to the disk as its objective",
  "mibs-best is the best pairing of all, by the model and by the truth",
]

policy "mibs-lm" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "lm"
  admission_options = { queue = "128" }
}
policy "mibs-wmm" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "wmm"
  admission_options = { queue = "128" }
}
policy "mibs-2" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { queue = "2" }
}
policy "mibs-8" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { queue = "8" }
}
policy "mibs-32" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { queue = "32" }
}
policy "mibs-both-8" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { counts = "both", queue = "8" }
}

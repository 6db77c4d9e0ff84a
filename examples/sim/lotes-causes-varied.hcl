base     = "lotes-causes.hcl"
title    = "LoTES: what decides, needs that vary within a class"
policies = ["lotes", "tetris", "greedy-fit"]

job_classes {
  variation = 0.5
}

base  = "tarcil-causes.hcl"
title = "Tarcil: what decides, at half of the load"
policies = [
  "tarcil",
  "tarcil-scores-ignored",
  "tarcil-speeds-ignored",
  "sparrow",
  "tarcil-oracle",
  "tarcil-candidates-8",
  "tarcil-candidates-32",
]

population "mixed" {
  jobs = 1200

  arrivals "constant" {
    every = "2s"
  }
}

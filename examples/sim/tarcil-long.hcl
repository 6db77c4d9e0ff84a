base  = "tarcil-medium.hcl"
title = "Tarcil on 200 servers: jobs of 10 s to 10 minutes"

population "tasks" {
  jobs = 1000

  duration "loguniform" {
    low  = "10s"
    high = "10m"
  }
}

world {
  sample_every = "10s"
}

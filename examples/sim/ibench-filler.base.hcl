# Eight primary jobs on 40 nodes that best-effort work fills up.
base = "ibench.base.hcl"

population "primary" {
  jobs     = 8
  targets  = true
  priority = 50

  arrivals "constant" {
    every = "5s"
  }
}

population "filler" {
  classes     = ["single-node"]
  jobs        = 400
  best_effort = true

  arrivals "constant" {
    every = "6s"
  }

  duration "loguniform" {
    low  = "3m"
    high = "10m"
  }
}

title  = "iBench: memcached on 40 nodes, filled up with best-effort work"
source = "Delimitrou 2015, §5.5.1, scenario 3"
notes = [
  "eight services that live for 40 minutes under a load that swings by a fifth, and best-effort jobs of 3 to 10 minutes, 6 s apart, are ours",
  "performance of memcached is the share of its load that was served, of best-effort work that of the ideal",
]
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "paragon-local-40"
}

population "primary" {
  classes  = ["memcached"]
  jobs     = 8
  targets  = true
  priority = 50
  load_swing  = 0.2
  load_period = "20m"

  arrivals "constant" {
    every = "5s"
  }

  duration "fixed" {
    value = "40m"
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

policy "ibench" { selector = "paragon" }
policy "least-loaded" {}
policy "ibench-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

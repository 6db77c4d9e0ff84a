base  = "paragon.base.hcl"
title = "Paragon on 40 servers, workloads with three phases"
notes = [
  "medium, high and medium load on memory; phases of a third of the work each",
  "durations of 6 to 24 minutes are ours: 67 % of the cores are wanted when all runs as fast as it can, and all of them at the speeds the baselines were published to reach",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
policies = ["paragon", "paragon-unadapted", "paragon-closing", "paragon-oracle", "nh", "ni", "least-loaded", "nomad-binpack", "nomad-spread"]

population "paragon" {
  phases = 3

  arrivals "constant" {
    every = "10s"
  }

  duration "loguniform" {
    low  = "6m"
    high = "24m"
  }
}

policy "paragon" {
  adapter = "quasar"
  moves   = true
}
policy "paragon-unadapted" { selector = "paragon" }
policy "paragon-closing" {
  selector = "paragon"
  adapter  = "close"
}
policy "paragon-oracle" {
  adapter = "quasar"
  moves   = true
}

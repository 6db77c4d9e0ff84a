title  = "Paragon on 40 servers, workloads with three phases"
source = "Delimitrou 2015, §3.4"
notes = [
  "medium, high and medium load on memory; phases of a third of the work each",
  "durations of 6 to 24 minutes are ours: 67 % of the cores are wanted when all runs as fast as it can, and all of them at the speeds the baselines were published to reach",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "paragon-local-40"
}

population "paragon" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  weights      = [29, 22, 350, 25]
  applications = 426
  jobs         = 178
  phases       = 3

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
  selector  = "paragon"
  knowledge = "oracle"
  adapter   = "quasar"
  moves     = true
}
policy "nh" {}
policy "ni" {}
policy "least-loaded" {}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

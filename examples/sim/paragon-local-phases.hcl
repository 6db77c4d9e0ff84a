title  = "Paragon on 40 servers, workloads with three phases"
source = "Delimitrou 2015, §3.4"
notes = [
  "medium, high and medium load on memory; phases of a third of the work each",
  "durations of 2 to 8 minutes are ours: with them the load classes of the text hold on 178 cores",
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
    low  = "2m"
    high = "8m"
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
policy "nh" {}
policy "ni" {}
policy "least-loaded" {}
policy "nomad-binpack" { admission = "none" }

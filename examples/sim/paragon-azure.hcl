title  = "Paragon on 500 servers of Windows Azure"
source = "Delimitrou 2015, §3.4"
notes = [
  "the text gives neither load nor gaps: 2,500 submissions 4 s apart, of 20 to 90 minutes, want two thirds of the cores",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "paragon-azure-500"
}

population "paragon" {
  classes       = ["ST", "MT", "MP", "IO"]
  platforms     = "published"
  weights       = [29, 22, 350, 25]
  applications  = 426
  jobs          = 2500
  equal_classes = true

  arrivals "constant" {
    every = "4s"
  }

  duration "loguniform" {
    low  = "20m"
    high = "1h30m"
  }
}

profiling {
  training = 50
}

policy "paragon" {}
policy "paragon-planned" {
  selector  = "paragon"
  knowledge = "planned"
}
policy "nh" {}
policy "ni" {}
policy "least-loaded" {}
policy "paragon-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

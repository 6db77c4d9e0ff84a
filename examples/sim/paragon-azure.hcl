base  = "paragon.base.hcl"
title = "Paragon on 500 servers of Windows Azure"
notes = [
  "the text gives neither load nor gaps: 2,500 submissions 4 s apart, of 20 to 90 minutes, want two thirds of the cores",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

cluster {
  shape = "paragon-azure-500"
}

population "paragon" {
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

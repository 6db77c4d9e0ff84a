base  = "paragon-azure.hcl"
title = "Paragon on 100 servers of Google Compute Engine"
notes = [
  "the text gives neither load nor gaps: 500 submissions 20 s apart, of 20 to 90 minutes, want two thirds of the cores",
  "performance is taken while a job runs; with_wait counts profiling and queueing",
]

cluster {
  shape = "paragon-gce-100"
}

population "paragon" {
  jobs = 500

  arrivals "constant" {
    every = "20s"
  }
}

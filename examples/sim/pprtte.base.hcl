# Jobs with deadlines on 50 servers, and the policies that are compared by them.
seeds = [1, 2, 3]

cluster {
  shape = "homogeneous-50x80x40GiB"
}

deadlines "google" {
  jobs      = 3614
  slack     = 0.10
  memory_mb = [256, 512, 1024]

  every_seconds {
    median = 2.426
    sigma  = 1
  }
  length_seconds {
    median = 180
    sigma  = 0.5
    most   = 3600
  }
  cores {
    median = 3.1
    sigma  = 0.8
    most   = 20
  }
  tasks {
    median = 0.212
    sigma  = 2.3
    most   = 150
  }
}

world {
  window       = "12s"
  sample_every = "1m"
}

policy "pp-rtte" {
  admission = "none"
  adapter   = "pp-rtte"
}
policy "obfit" {
  admission = "none"
  adapter   = "obfit"
}
policy "rtte" {
  admission = "none"
  adapter   = "rtte"
}
policy "nomad-binpack" {
  admission = "none"
}
policy "nomad-spread" {
  admission = "none"
}
policy "least-loaded" {
  admission = "none"
}

title  = "PP-RTTE: deadlines under interference, meter error 5 %"
source = "Sampaio, Estimating Effective Slowdown of Tasks in Energy-Efficient Cloud Systems, §VI, table III"
notes = [
  "a core stands for 10 Mflop/s: 50 machines of 800 Mflop/s; distributions are chosen for the stated 2.87 tasks per job, 75 % of one task, 4 s between jobs, 3 min typical length and about 150 tasks at once",
  "the interference generator was fixed by the published results of RTTE and OBFIT before PP-RTTE was run",
]
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
  interference {}
  meter {
    bias      = 0.05
    deviation = 0.20
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
policy "pp-rtte-oracle" {
  selector    = "pp-rtte"
  admission   = "none"
  adapter     = "pp-rtte"
  detector    = "lr"
  exact_meter = true
}
policy "nomad-binpack" {
  admission = "none"
}

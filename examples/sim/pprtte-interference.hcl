base   = "pprtte.base.hcl"
title  = "PP-RTTE: deadlines under interference, meter error 10 %"
source = "Sampaio, Estimating Effective Slowdown of Tasks in Energy-Efficient Cloud Systems, §VI, table II and figure 2"
notes = [
  "a core stands for 10 Mflop/s: 50 machines of 800 Mflop/s; distributions are chosen for the stated 2.87 tasks per job, 75 % of one task, 4 s between jobs, 3 min typical length and about 150 tasks at once",
  "the interference generator was fixed by the published results of RTTE and OBFIT before PP-RTTE was run",
]
policies = [
  "pp-rtte", "pp-rtte-lr", "pp-rtte-std", "pp-rtte-atd", "pp-rtte-etd", "obfit", "rtte", "rtte-headroom",
  "pp-rtte-oracle", "nomad-binpack", "nomad-spread", "least-loaded",
]

deadlines "google" {
  interference {}
  meter {
    bias      = 0.10
    deviation = 0.20
  }
}

policy "pp-rtte-lr" {
  selector  = "pp-rtte"
  admission = "none"
  adapter   = "pp-rtte"
  detector  = "lr"
}
policy "pp-rtte-std" {
  selector  = "pp-rtte"
  admission = "none"
  adapter   = "pp-rtte"
  detector  = "std"
}
policy "pp-rtte-atd" {
  selector  = "pp-rtte"
  admission = "none"
  adapter   = "pp-rtte"
  detector  = "atd"
}
policy "pp-rtte-etd" {
  selector  = "pp-rtte"
  admission = "none"
  adapter   = "pp-rtte"
  detector  = "etd"
}
policy "rtte-headroom" {
  selector  = "rtte"
  admission = "none"
  adapter   = "none"
  options   = { headroom = "0.11" }
}
policy "pp-rtte-oracle" {
  selector    = "pp-rtte"
  admission   = "none"
  adapter     = "pp-rtte"
  detector    = "lr"
  exact_meter = true
}

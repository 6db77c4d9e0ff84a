base     = "pprtte-interference.hcl"
title    = "PP-RTTE: deadlines under interference, meter error 5 %"
source   = "Sampaio, Estimating Effective Slowdown of Tasks in Energy-Efficient Cloud Systems, §VI, table III"
policies = ["pp-rtte", "pp-rtte-oracle", "nomad-binpack"]

deadlines "google" {
  meter {
    bias = 0.05
  }
}

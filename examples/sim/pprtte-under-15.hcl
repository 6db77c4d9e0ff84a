base  = "pprtte-error-5.hcl"
title = "PP-RTTE: deadlines under interference, meter 15 % too low"

deadlines "google" {
  meter {
    bias = -0.15
  }
}

base  = "pprtte-error-5.hcl"
title = "PP-RTTE: deadlines under interference, meter 5 % too low"

deadlines "google" {
  meter {
    bias = -0.05
  }
}

base  = "pprtte-error-5.hcl"
title = "PP-RTTE: deadlines under interference, meter error 15 %"

deadlines "google" {
  meter {
    bias = 0.15
  }
}

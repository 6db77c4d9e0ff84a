base  = "pprtte-error-5.hcl"
title = "PP-RTTE: deadlines under interference, meter error 25 %"

deadlines "google" {
  meter {
    bias = 0.25
  }
}

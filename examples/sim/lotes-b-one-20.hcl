base  = "lotes-b-one-00.hcl"
title = "LoTES, experiment B, one draw for both needs: rates of a class differ by 0.2 between kinds of machines"

job_classes {
  omega = 0.2
}

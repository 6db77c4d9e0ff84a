base  = "lotes-b-omega-00.hcl"
title = "LoTES, experiment B: rates of a class differ by 0.2 between kinds of machines"

job_classes {
  omega = 0.2
}

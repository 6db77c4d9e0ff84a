base  = "lotes-b-mean-00.hcl"
title = "LoTES, experiment B, jobs need what their class does on average: rates of a class differ by 0.2 between kinds of machines"

job_classes {
  omega = 0.2
}

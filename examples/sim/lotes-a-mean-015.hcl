base  = "lotes-a-mean-000.hcl"
title = "LoTES, experiment A, jobs need what their class does on average: needs of classes differ by 0.015"

job_classes {
  phi = 0.015
}

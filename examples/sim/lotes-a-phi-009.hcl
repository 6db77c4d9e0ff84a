base  = "lotes-a-phi-000.hcl"
title = "LoTES, experiment A: needs of classes differ by 0.009"

job_classes {
  phi = 0.009
}

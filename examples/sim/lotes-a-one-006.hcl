base  = "lotes-a-one-000.hcl"
title = "LoTES, experiment A, one draw for both needs: needs of classes differ by 0.006"

job_classes {
  phi = 0.006
}

base  = "lotes-a-one-000.hcl"
title = "LoTES, experiment A, one draw for both needs: needs of classes differ by 0.015"

job_classes {
  phi = 0.015
}

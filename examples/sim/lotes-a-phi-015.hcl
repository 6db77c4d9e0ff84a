base  = "lotes-a-phi-000.hcl"
title = "LoTES, experiment A: needs of classes differ by 0.015"

job_classes {
  phi = 0.015
}

policy "nomad-binpack" {
  admission = "none"
}
policy "least-loaded" {
  admission = "none"
}

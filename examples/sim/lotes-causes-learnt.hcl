base     = "lotes-causes.hcl"
title    = "LoTES: what decides, classes that are learnt"
policies = ["lotes"]

job_classes {
  declared = false
}

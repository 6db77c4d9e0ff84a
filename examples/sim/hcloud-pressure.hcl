base   = "hcloud-high.hcl"
title  = "HCloud: what jobs press on each other"
source = "Delimitrou 2015, §8.3.2"
notes = [
  "loads are what jobs press on each other, relative to what they are drawn with; what other customers press stays. Not in the text: it tells apart which of the two decides between owned machines and rented slices",
  "a tenth of the cores, and of the jobs per second",
  "the last three take a job on a rented machine that others have only where all tolerate each other; the rest share whole machines by room, as owned ones are, and prefer one where all do",
]
loads    = [0.01, 0.25, 0.5, 1]
policies = ["SR", "OdF", "OdM", "HF", "HM", "OdF-tolerated", "HF-tolerated", "HM-tolerated"]

provision {
  scale = 0.1
  sweep = "pressure"
}

policy "OdF-tolerated" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdF"
  admission_options = { sharing = "tolerated" }
}
policy "HF-tolerated" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HF"
  admission_options = { sharing = "tolerated" }
}
policy "HM-tolerated" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { sharing = "tolerated" }
}

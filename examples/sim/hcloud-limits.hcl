base   = "hcloud-high.hcl"
title  = "HCloud: the hard limit, and how qualities are read"
source = "Delimitrou 2015, §8.4.2"
notes = [
  "the hard limit is ours (0.85), for the text has none; quality is compared as one number, or resource by resource (vector); the percentile is what nine of ten nodes reach, or the literal one (literal)",
]
policies = ["HM-hard-75", "HM-hard-80", "HM-hard-90", "HM-hard-95", "HM-vector", "HM-literal", "HM"]

policy "HM-hard-75" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { hard = "0.75" }
}
policy "HM-hard-80" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { hard = "0.80" }
}
policy "HM-hard-90" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { hard = "0.90" }
}
policy "HM-hard-95" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { hard = "0.95" }
}
policy "HM-vector" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { quality = "vector" }
}
policy "HM-literal" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { percentile = "reached-by-few" }
}

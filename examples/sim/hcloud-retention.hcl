base   = "hcloud-high.hcl"
title  = "HCloud: how long idle nodes are kept"
source = "Delimitrou 2015, §8.5.1"
notes = [
  "idle nodes are kept for so many times their spin-up; without a number ten times; the values are ours, the text's are lost with a figure",
]
policies = [
  "OdF-keeps-0",
  "OdF-keeps-1",
  "OdF-keeps-5",
  "OdF",
  "OdF-keeps-50",
  "OdF-keeps-100",
  "OdM-keeps-0",
  "OdM-keeps-1",
  "OdM-keeps-5",
  "OdM",
  "OdM-keeps-50",
  "OdM-keeps-100",
  "HF-keeps-0",
  "HF-keeps-1",
  "HF-keeps-5",
  "HF",
  "HF-keeps-50",
  "HF-keeps-100",
  "HM-keeps-0",
  "HM-keeps-1",
  "HM-keeps-5",
  "HM",
  "HM-keeps-50",
  "HM-keeps-100",
]

policy "OdF-keeps-0" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdF"
  admission_options = { retention = "0" }
}
policy "OdF-keeps-1" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdF"
  admission_options = { retention = "1" }
}
policy "OdF-keeps-5" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdF"
  admission_options = { retention = "5" }
}
policy "OdF-keeps-50" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdF"
  admission_options = { retention = "50" }
}
policy "OdF-keeps-100" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdF"
  admission_options = { retention = "100" }
}
policy "OdM-keeps-0" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdM"
  admission_options = { retention = "0" }
}
policy "OdM-keeps-1" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdM"
  admission_options = { retention = "1" }
}
policy "OdM-keeps-5" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdM"
  admission_options = { retention = "5" }
}
policy "OdM-keeps-50" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdM"
  admission_options = { retention = "50" }
}
policy "OdM-keeps-100" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "OdM"
  admission_options = { retention = "100" }
}
policy "HF-keeps-0" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HF"
  admission_options = { retention = "0" }
}
policy "HF-keeps-1" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HF"
  admission_options = { retention = "1" }
}
policy "HF-keeps-5" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HF"
  admission_options = { retention = "5" }
}
policy "HF-keeps-50" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HF"
  admission_options = { retention = "50" }
}
policy "HF-keeps-100" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HF"
  admission_options = { retention = "100" }
}
policy "HM-keeps-0" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { retention = "0" }
}
policy "HM-keeps-1" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { retention = "1" }
}
policy "HM-keeps-5" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { retention = "5" }
}
policy "HM-keeps-50" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { retention = "50" }
}
policy "HM-keeps-100" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { retention = "100" }
}

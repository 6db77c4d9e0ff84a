base   = "hcloud-high.hcl"
title  = "HCloud: who gets the owned nodes"
source = "Delimitrou 2015, §8.4.2"
notes = [
  "HM under the high variability load with each mapping; HM itself is P8",
  "the thresholds of P3 and P4 are ours, the text's are lost with a figure",
]
policies = ["HM-P1", "HM-P2", "HM-P3", "HM-P4", "HM-P5", "HM-P6", "HM-P7", "HM"]

policy "HM-P1" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { mapping = "P1" }
}
policy "HM-P2" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { mapping = "P2" }
}
policy "HM-P3" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { mapping = "P3" }
}
policy "HM-P4" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { mapping = "P4" }
}
policy "HM-P5" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { mapping = "P5" }
}
policy "HM-P6" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { mapping = "P6" }
}
policy "HM-P7" {
  selector          = "quasar"
  adapter           = "enlarge"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { mapping = "P7" }
}

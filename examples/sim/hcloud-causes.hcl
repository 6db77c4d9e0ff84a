base   = "hcloud-high.hcl"
title  = "HCloud: what decides"
source = "Delimitrou 2015, §8.3.3, §8.4.2"
notes = [
  "trials that take one thing away at a time: what is not known of jobs (oracle), more CPU for those that fall short (not-enlarged), sharing of whole rented machines by room (tolerated), the coin of P8 for jobs of which nothing is known (P7: by use alone)",
]
policies = [
  "SR",
  "SR-oracle",
  "SR-not-enlarged",
  "OdF-tolerated",
  "HF-tolerated",
  "HM-tolerated",
  "HF-user",
  "HF-user-P7",
  "HM-user",
  "HM-user-P7",
]

policy "SR-oracle" {
  selector  = "quasar"
  adapter   = "enlarge"
  knowledge = "oracle"
  admission = "hcloud"
  strategy  = "SR"
}
policy "SR-not-enlarged" {
  selector  = "quasar"
  admission = "hcloud"
  strategy  = "SR"
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
policy "HF-user-P7" {
  selector          = "least-loaded"
  admission         = "hcloud"
  strategy          = "HF"
  admission_options = { mapping = "P7" }
}
policy "HM-user-P7" {
  selector          = "least-loaded"
  admission         = "hcloud"
  strategy          = "HM"
  admission_options = { mapping = "P7" }
}

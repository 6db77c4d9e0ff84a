base   = "quasar-large.hcl"
title  = "Quasar: what decides, 1,200 workloads on 200 servers"
source = "Delimitrou 2015, §4.3, §4.4"
notes = [
  "of each of the four classifications: ignored is without it, all being alike by it (as fast on all configurations, nobody presses on anybody, faster in proportion to cores, or to nodes); exact has the truth of it",
  "entries are of the rows of configurations, sources and numbers of cores",
  "quasar-reserved places what users reserve; unadapted changes nothing once a job runs",
]
policies = [
  "quasar",
  "quasar-scale-up-ignored",
  "quasar-scale-out-ignored",
  "quasar-speeds-ignored",
  "quasar-scores-ignored",
  "quasar-scale-up-exact",
  "quasar-scale-out-exact",
  "quasar-speeds-exact",
  "quasar-scores-exact",
  "quasar-oracle",
  "quasar-entries-1",
  "quasar-entries-4",
  "quasar-reserved",
  "reservation-ll",
  "quasar-unadapted",
  "quasar-unadapted-scale-up-ignored",
  "quasar-unadapted-scale-out-ignored",
  "quasar-unadapted-speeds-ignored",
  "quasar-unadapted-scores-ignored",
  "quasar-unadapted-oracle",
]

policy "quasar-scale-up-ignored" {
  selector = "quasar"
  sizing   = "policy"
  adapter  = "quasar"
  ignored  = ["scale_up"]
}
policy "quasar-scale-up-exact" {
  selector = "quasar"
  sizing   = "policy"
  adapter  = "quasar"
  exact    = ["scale_up"]
}
policy "quasar-scale-out-ignored" {
  selector = "quasar"
  sizing   = "policy"
  adapter  = "quasar"
  ignored  = ["scale_out"]
}
policy "quasar-scale-out-exact" {
  selector = "quasar"
  sizing   = "policy"
  adapter  = "quasar"
  exact    = ["scale_out"]
}
policy "quasar-speeds-ignored" {
  selector = "quasar"
  sizing   = "policy"
  adapter  = "quasar"
  ignored  = ["speeds"]
}
policy "quasar-speeds-exact" {
  selector = "quasar"
  sizing   = "policy"
  adapter  = "quasar"
  exact    = ["speeds"]
}
policy "quasar-scores-ignored" {
  selector = "quasar"
  sizing   = "policy"
  adapter  = "quasar"
  ignored  = ["scores"]
}
policy "quasar-scores-exact" {
  selector = "quasar"
  sizing   = "policy"
  adapter  = "quasar"
  exact    = ["scores"]
}
policy "quasar-entries-1" {
  selector = "quasar"
  sizing   = "policy"
  adapter  = "quasar"
  entries  = 1
}
policy "quasar-entries-4" {
  selector = "quasar"
  sizing   = "policy"
  adapter  = "quasar"
  entries  = 4
}
policy "quasar-reserved" {
  selector = "quasar"
  adapter  = "quasar"
}
policy "quasar-unadapted-scale-up-ignored" {
  selector = "quasar"
  sizing   = "policy"
  ignored  = ["scale_up"]
}
policy "quasar-unadapted-scale-out-ignored" {
  selector = "quasar"
  sizing   = "policy"
  ignored  = ["scale_out"]
}
policy "quasar-unadapted-speeds-ignored" {
  selector = "quasar"
  sizing   = "policy"
  ignored  = ["speeds"]
}
policy "quasar-unadapted-scores-ignored" {
  selector = "quasar"
  sizing   = "policy"
  ignored  = ["scores"]
}
policy "quasar-unadapted-oracle" {
  selector  = "quasar"
  sizing    = "policy"
  knowledge = "oracle"
}

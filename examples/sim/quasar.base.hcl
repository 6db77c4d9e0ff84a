# Quasar on 40 servers, and the policies it is compared with.
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "quasar-local-40"
}

profiling {
  training = 40
}

policy "quasar" {
  sizing  = "policy"
  adapter = "quasar"
}
policy "quasar-planned" {
  selector  = "quasar"
  sizing    = "policy"
  knowledge = "planned"
  adapter   = "quasar"
}
policy "quasar-oracle" {
  selector  = "quasar"
  sizing    = "policy"
  knowledge = "oracle"
  adapter   = "quasar"
}
policy "autoscale" {
  sizing = "policy"
}
policy "reservation-paragon" {}
policy "reservation-ll" {}
policy "least-loaded" {}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

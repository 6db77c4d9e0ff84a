# Jobs of public traces, which get applications that interfere, and the policies that are compared by them.
seeds = [1, 2, 3]

profiling {
  time = "10s"
}

policy "paragon" {
  knowledge = "planned"
}
policy "least-loaded" {}
policy "paragon-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

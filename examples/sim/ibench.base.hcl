# The cluster and the policies of the three scenarios of iBench.
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "paragon-local-40"
}

policy "ibench" { selector = "paragon" }
policy "least-loaded" {}
policy "ibench-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

# The applications of Paragon's evaluation, 178 of them on 40 servers, and the policies it is compared with.
source = "Delimitrou 2015, §3.4"
seeds  = [1, 2, 3, 4, 5]

cluster {
  shape = "paragon-local-40"
}

population "paragon" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  weights      = [29, 22, 350, 25]
  applications = 426
  jobs         = 178
}

policy "paragon" {}
policy "paragon-planned" {
  selector  = "paragon"
  knowledge = "planned"
}
policy "nh" {}
policy "ni" {}
policy "least-loaded" {}
policy "paragon-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

# ARQ's evaluation: the cluster and the policies that its scenarios choose from.
seeds = [1, 2, 3, 4, 5]

cluster {
  shape = "paragon-local-40"
}

policy "arq" {
  selector  = "paragon"
  admission = "arq"
}
policy "arq-printed" {
  selector          = "paragon"
  admission         = "arq"
  admission_options = { configurations = "any" }
}
policy "arq-planned" {
  selector  = "paragon"
  admission = "arq"
  knowledge = "planned"
}
policy "arq-oracle" {
  selector  = "paragon"
  admission = "arq"
  knowledge = "oracle"
}
policy "paragon" {}
policy "paragon-planned" {
  selector  = "paragon"
  knowledge = "planned"
}
policy "paragon-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "least-loaded" {}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }

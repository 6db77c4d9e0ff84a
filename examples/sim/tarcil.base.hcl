# Policies of ten scheduling agents; decisions take time, and profiles are known beforehand.
seeds = [1, 2, 3, 4, 5]

profiling {
  time = "0s"
}

policy "tarcil" {
  admission = "tarcil"
  agents    = 10
}
policy "sparrow" {
  admission = "none"
  agents    = 10
}
policy "centralized" {
  selector = "quasar"
  agents   = 1
}
policy "tarcil-oracle" {
  selector  = "tarcil"
  admission = "tarcil"
  knowledge = "oracle"
  agents    = 10
}
policy "least-loaded" { agents = 10 }
policy "nomad-binpack" {
  admission = "none"
  agents    = 10
}
policy "nomad-spread" {
  admission = "none"
  agents    = 10
}

store "nomad" {}

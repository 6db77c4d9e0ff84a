title = "Small and of everything: its result is part of the key of kept ones"
seeds = [1]
limit = "3h"

cluster {
  shape = "paragon-local-40"

  lose {
    nodes = 2
    at    = "6m"
    for   = "5m"
  }
}

population "batch" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  applications = 40
  jobs         = 60
  phases       = 2

  arrivals "constant" {
    every = "5s"
  }

  duration "loguniform" {
    low  = "2m"
    high = "8m"
  }
}

population "sized" {
  classes      = ["single-node", "hadoop", "memcached", "web"]
  jobs         = 24
  targets      = true
  reservations = "published"
  load_swing   = 0.3
  load_period  = "10m"

  arrivals "poisson" {
    every = "10s"
  }

  duration "loguniform" {
    low  = "3m"
    high = "10m"
  }
}

population "tasks" {
  classes  = ["ST"]
  jobs     = 10
  shape    = "tasks"
  tasks    = 5
  priority = 10

  arrivals "gaussian_gaps" {
    every = "15s"
    sigma = "2s"
  }

  duration "fixed" {
    value = "10s"
  }
}

profiling {
  training = 12
}

policy "autoscale" {
  sizing  = "policy"
}
policy "least-loaded" {}
policy "nh" {}
policy "ni" {}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread" { admission = "none" }
policy "paragon" {
  admission = "arq"
  adapter   = "quasar"
  moves     = true
}
policy "paragon-closing" {
  selector = "paragon"
  adapter  = "close"
}
policy "paragon-statistical" {}
policy "quasar" {
  sizing  = "policy"
  adapter = "quasar"
}
policy "oracle" {
  selector  = "quasar"
  sizing    = "policy"
  knowledge = "oracle"
}
policy "random" {}
policy "reservation-ll" {}
policy "reservation-paragon" {}
policy "sparrow" {
  admission = "none"
  agents    = 3
}
policy "tarcil" {
  admission = "tarcil"
  agents    = 3
}

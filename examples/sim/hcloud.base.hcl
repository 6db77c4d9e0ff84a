# Owned and rented nodes (HCloud): what can be rented, and who is compared.
seeds = [11, 12, 13]
limit = "12h"

cluster {}

provision {
  machine_cores     = 16
  machine_memory_mb = 61440

  type "standard-1" {
    family    = "standard"
    cores     = 1
    memory_mb = 3840
    spin_up   = "19s"
  }

  type "standard-2" {
    family    = "standard"
    cores     = 2
    memory_mb = 7680
    spin_up   = "17s"
  }

  type "standard-4" {
    family    = "standard"
    cores     = 4
    memory_mb = 15360
    spin_up   = "15s"
  }

  type "standard-8" {
    family    = "standard"
    cores     = 8
    memory_mb = 30720
    spin_up   = "14s"
  }

  type "standard-16" {
    family    = "standard"
    cores     = 16
    memory_mb = 61440
    spin_up   = "12s"
  }

  type "compute-2" {
    family    = "compute"
    cores     = 2
    memory_mb = 1844
    spin_up   = "17s"
  }

  type "compute-4" {
    family    = "compute"
    cores     = 4
    memory_mb = 3688
    spin_up   = "15s"
  }

  type "compute-8" {
    family    = "compute"
    cores     = 8
    memory_mb = 7376
    spin_up   = "14s"
  }

  type "compute-16" {
    family    = "compute"
    cores     = 16
    memory_mb = 14752
    spin_up   = "12s"
  }

  type "memory-2" {
    family    = "memory"
    cores     = 2
    memory_mb = 13312
    spin_up   = "17s"
  }

  type "memory-4" {
    family    = "memory"
    cores     = 4
    memory_mb = 26624
    spin_up   = "15s"
  }

  type "memory-8" {
    family    = "memory"
    cores     = 8
    memory_mb = 53248
    spin_up   = "14s"
  }

  type "memory-16" {
    family    = "memory"
    cores     = 16
    memory_mb = 106496
    spin_up   = "12s"
  }

  spin_up {
    smallest   = "19s"
    largest    = "12s"
    sigma      = 0.25
    slow_share = 0.055
    slow_from  = "100s"
    slow_to    = "140s"
  }

  outside {
    mean        = 0.25
    swing       = 0.10
    correlation = "5m"
    step        = "10s"
  }

  prices {
    rented_per_core_hour = 1
    ratio                = 2.74
    term_weeks           = 52

    discount {
      beyond = 0.25
      price  = 0.8
    }
    discount {
      beyond = 0.50
      price  = 0.6
    }
    discount {
      beyond = 0.75
      price  = 0.4
    }
  }

  demand {
    every           = "1s"
    batch_classes   = ["hadoop"]
    service_classes = ["memcached"]
    applications    = 60
  }
}

profiling {
  time      = "7500ms"
  training  = 40
  recurring = true
}

world {
  decision_time = "20ms"
  sample_every  = "30s"
}

policy "SR" {
  selector  = "quasar"
  adapter   = "enlarge"
  admission = "hcloud"
  strategy  = "SR"
}
policy "OdF" {
  selector  = "quasar"
  adapter   = "enlarge"
  admission = "hcloud"
  strategy  = "OdF"
}
policy "OdM" {
  selector  = "quasar"
  adapter   = "enlarge"
  admission = "hcloud"
  strategy  = "OdM"
}
policy "HF" {
  selector  = "quasar"
  adapter   = "enlarge"
  admission = "hcloud"
  strategy  = "HF"
}
policy "HM" {
  selector  = "quasar"
  adapter   = "enlarge"
  admission = "hcloud"
  strategy  = "HM"
}
policy "SR-user" {
  selector  = "least-loaded"
  admission = "hcloud"
  strategy  = "SR"
}
policy "OdF-user" {
  selector  = "least-loaded"
  admission = "hcloud"
  strategy  = "OdF"
}
policy "OdM-user" {
  selector  = "least-loaded"
  admission = "hcloud"
  strategy  = "OdM"
}
policy "HF-user" {
  selector  = "least-loaded"
  admission = "hcloud"
  strategy  = "HF"
}
policy "HM-user" {
  selector  = "least-loaded"
  admission = "hcloud"
  strategy  = "HM"
}
policy "HM-oracle" {
  selector  = "quasar"
  adapter   = "enlarge"
  knowledge = "oracle"
  admission = "hcloud"
  strategy  = "HM"
}
policy "nomad-binpack" {
  admission = "none"
  strategy  = "SR"
}
policy "autoscaler" {
  selector  = "nomad-binpack"
  admission = "target-value"
  strategy  = "OdF"
}
policy "nomad-binpack-sized" {
  selector  = "nomad-binpack"
  knowledge = "estimated"
  admission = "none"
  strategy  = "SR"
}
policy "autoscaler-sized" {
  selector  = "nomad-binpack"
  knowledge = "estimated"
  admission = "target-value"
  strategy  = "OdF"
}

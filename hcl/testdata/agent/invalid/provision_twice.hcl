provision {
  strategy     = "OdM"
  max_per_hour = 1
  reserved {
    attribute = "node.class"
    value     = "burst"
  }
  instance_type "a" {
    node_class     = "burst"
    cores          = 4
    memory_mb      = 7500
    price_per_hour = 0.19
  }
  instance_type "a" {
    cores          = 8
    memory_mb      = 15000
    price_per_hour = 0.38
  }
  instance_type "b" {
    node_class     = "burst"
    cores          = 8
    memory_mb      = 15000
    price_per_hour = 0.38
  }
  instance_type {
    cores          = 8
    memory_mb      = 15000
    price_per_hour = 0.38
  }
}

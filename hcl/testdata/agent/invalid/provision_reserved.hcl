provision {
  strategy     = "HM"
  max_per_hour = 1
  reserved {
    attribute = "class"
    value     = "owned"
  }
  instance_type "" {
    cores          = 4
    memory_mb      = 7500
    price_per_hour = 0.19
  }
  instance_type "b" {
    cores          = 4
    memory_mb      = 7500
    price_per_hour = 0.19
  }
}

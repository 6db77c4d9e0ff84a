provision {
  strategy     = "HM"
  max_per_hour = 1
  instance_type "a" {
    cores          = 4
    memory_mb      = 7500
    price_per_hour = -0.19
  }
  instance_type "b" {
    cores     = 4
    memory_mb = 7500
  }
  instance_type "c" {
    cores          = 64
    memory_mb      = 7500
    price_per_hour = 3
  }
}

provision {
  strategy     = "HM"
  max_per_hour = 0
  instance_type "a" {
    cores          = 0
    memory_mb      = 7500
    price_per_hour = "0.19"
    spin_up        = 90
    target         = { a = "x", "a" = "y", b = 3 }
  }
  target_plugin {
    args = []
  }
}

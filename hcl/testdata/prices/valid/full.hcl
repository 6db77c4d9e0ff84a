minimum_billed = "1m"
outside        = "20%"

owned {
  cores          = 16
  memory_mb      = 60000
  price_per_hour = 0.28
  term_weeks     = 156
  nodes          = 4
}

instance_type "burst-4" {
  cores          = 4
  memory_mb      = 7500
  price_per_hour = 0.19
  spin_up        = "90s"
}

instance_type "burst-16" {
  cores          = 16
  memory_mb      = 60000
  price_per_hour = 0
}

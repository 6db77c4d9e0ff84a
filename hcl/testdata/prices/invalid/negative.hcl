minimum_billed = 60
outside        = "120%"

owned {
  cores          = 16
  memory_mb      = 60000
  price_per_hour = -0.28
  term_weeks     = 0
}

instance_type "burst-4" {
  cores          = 4
  memory_mb      = 7500
  price_per_hour = -1
}

# What nodes cost, for nomad-placer provision what-if. The numbers are made up.
owned {
  cores          = 2
  memory_mb      = 8000
  price_per_hour = 0.035 # what three years cost in all, by the hour
  term_weeks     = 156
}

instance_type "burst-1" {
  cores          = 1
  memory_mb      = 2000
  price_per_hour = 0.048
  spin_up        = "19s"
}

instance_type "burst-2" {
  cores          = 2
  memory_mb      = 8000
  price_per_hour = 0.096
  spin_up        = "12s"
}

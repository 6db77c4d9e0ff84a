owned {
  cores          = 16
  memory_mb      = 60000
  price_per_hour = 0.28
}

instance_type "agent-16" {
  price_per_hour = 0.70
}

instance_type "other" {
  memory_mb      = 1000
  price_per_hour = 0.70
}

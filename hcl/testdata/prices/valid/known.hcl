# The agent knows the type, so that only its price is said.
owned {
  cores          = 16
  memory_mb      = 60000
  price_per_hour = 0.28
}

instance_type "agents-16" {
  price_per_hour = 0.70
}

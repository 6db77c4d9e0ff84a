owned {
  cores          = 16
  memory_mb      = 60000
  price_per_hour = 0.28
  price_per_year = 2400
}

node_type "burst-4" {
  price_per_hour = 0.19
}

instance_type "agents-16" {
  price_per_hour = "0.70"
}

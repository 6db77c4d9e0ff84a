owned {
  cores     = 16
  memory_mb = 60000
}

instance_type "agents-16" {
}

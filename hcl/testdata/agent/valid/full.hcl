pools {
  hold = "default"
  run  = "prod"
}
policy        = "least-loaded"
hold          = "2m"
listen        = "0.0.0.0:9470"
dashboard_url = "https://placer.example/"
store "bolt" {
  path = "/var/lib/nomad-placer/placer.db"
}
columns   = ["mem_bw", "llc_cap", "int"]
log_level = "debug"
profile {
  seconds     = 60
  sources     = ["mem_bw"]
  prefer      = ["llc_cap", "int"]
  concurrency = 2
}

exec_probes   = true
node_metadata = true

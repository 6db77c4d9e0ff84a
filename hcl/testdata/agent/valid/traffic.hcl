traffic {
  tables    = "/srv/traffic"
  rack_meta = "placement.rack"
  near      = true

  link_mbit_per_sec = 10000
}

traffic {
  tables    = "/srv/traffic"
  rack_meta = "placement.rack"
  near      = true
}

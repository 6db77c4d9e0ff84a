traffic {
  rack_meta = "meta rack"
  near      = true
}

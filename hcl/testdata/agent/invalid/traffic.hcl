traffic {
  rack_meta = "${meta.rack}"
  near      = true

  link_mbit_per_sec = 0
}

target {
  best_effort = true
}
disk {
  bandwidth = 12.5
  use_max   = "30%"
}

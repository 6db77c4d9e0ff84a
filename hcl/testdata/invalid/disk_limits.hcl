target {
  best_effort = true
}
disk {
  bandwidth = 0
  use_max   = "120%"
  twin      = "app.twin"
}

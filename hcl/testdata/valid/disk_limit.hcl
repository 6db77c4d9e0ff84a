target {
  best_effort = true
}
disk {
  bandwidth = 40
  limit     = true
}

target {
  best_effort = true
}
disk {
}

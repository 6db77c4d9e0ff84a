target {
  best_effort = true
}
disk {
  bandwidth = "40MB/s"
  use_max   = 70
}

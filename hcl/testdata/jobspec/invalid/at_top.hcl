performance {
  target { best_effort = true }
}
job "x" {
}

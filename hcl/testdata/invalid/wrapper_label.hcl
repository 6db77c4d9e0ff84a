performance "x" {
  target { best_effort = true }
}

performance {
  target { best_effort = true }
  performance {
  }
}

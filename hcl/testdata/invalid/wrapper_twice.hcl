performance {
  target { best_effort = true }
}
performance {
  target { best_effort = true }
}

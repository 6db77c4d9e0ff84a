target {
  best_effort = true
}
near = "cache"

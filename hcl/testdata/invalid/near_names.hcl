target {
  best_effort = true
}
near = ["cache", "", "other space", "store/", "cache"]

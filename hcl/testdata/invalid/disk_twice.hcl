target {
  best_effort = true
}
disk { bandwidth = 40 }
disk { bandwidth = 50 }
bandwidth = 60

target { best_effort = true }

target { best_effort = false }

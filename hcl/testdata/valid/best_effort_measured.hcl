target { best_effort = true }
probe "exec" { command = ["progress"] }

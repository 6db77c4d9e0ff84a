job "x" {
  group "g" {
    task "t" {
      performance {
        target { best_effort = true }
      }
    }
  }
}

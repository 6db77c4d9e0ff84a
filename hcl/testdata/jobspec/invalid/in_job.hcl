job "x" {
  performance {
    target { best_effort = true }
  }
  group "g" {}
}

job "x" {
  group "g" {
    performance {
      target { best_effort = true }
    }
    task "t" { driver = "exec" }
  }
}

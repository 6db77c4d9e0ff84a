job "x" {
  group "g" {
    task "t" {
      driver = "ours"
      config {
        performance { level = 3 }
      }
    }
  }
}

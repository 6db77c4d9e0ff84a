job "x" {
  group "g" {
    dynamic "performance" {
      for_each = [1]
      content {}
    }
  }
}

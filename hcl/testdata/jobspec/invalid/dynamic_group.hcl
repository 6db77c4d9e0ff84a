job "x" {
  dynamic "group" {
    for_each = [1]
    content {
      performance {
      }
    }
  }
}

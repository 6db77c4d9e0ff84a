job "x" {
  group {
    performance {
    }
  }
}

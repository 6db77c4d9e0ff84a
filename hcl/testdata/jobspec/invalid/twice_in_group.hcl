job "x" {
  group "g" {
    performance {
    }
    performance {
    }
  }
}

job "x" {
  group "g" {
    performance {
    }
  }
  group "g" {
    performance {
    }
  }
}

job "x" {
  group "g" {
    performance {
    }
    meta {
      performance = "x"
    }
  }
}

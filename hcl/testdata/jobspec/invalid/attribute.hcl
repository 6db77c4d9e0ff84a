job "x" {
  group "g" {
    performance = {
      qps = 5
    }
  }
}

job "x" {
  group "g" {
    perfomance {
    }
  }
}

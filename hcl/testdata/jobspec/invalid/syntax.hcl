job "x" {
  group "g" {
    performance { target { qps = 5 max = 3 } }
  }
}

target {
  rate = 5
  latency {
    percentile = 99
    max        = "5ms"
  }
}
probe "prometheus" {
  port    = "m"
  rate    = "r"
  latency = "l"
}

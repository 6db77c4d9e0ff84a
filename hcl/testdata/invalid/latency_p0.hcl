target {
  qps = 100
  latency {
    percentile = 0
    max        = "5ms"
  }
}
probe "prometheus" {
  port    = "m"
  rate    = "r"
  latency = "l"
}

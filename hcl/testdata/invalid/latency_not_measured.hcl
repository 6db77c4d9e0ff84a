target {
  qps = 100
  latency {
    percentile = 99
    max        = "5ms"
  }
}
probe "prometheus" {
  port    = "m"
  rate    = "r"
}

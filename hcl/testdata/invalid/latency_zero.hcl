target {
  qps = 100
  latency {
    percentile = 99
    max        = "0s"
  }
}
probe "prometheus" {
  port    = "m"
  rate    = "r"
  latency = "l"
}

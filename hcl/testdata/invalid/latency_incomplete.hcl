target {
  qps = 100
  latency {}
}
probe "prometheus" {
  port    = "m"
  rate    = "r"
  latency = "l"
}

target {
  qps = 20000
}

probe "prometheus" {
  port    = "metrics"
  rate    = "r"
  pattern = "x"
}

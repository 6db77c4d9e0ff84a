target {
  qps = 20000
}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}
scale { count = [for i in [1, 2] : i] }

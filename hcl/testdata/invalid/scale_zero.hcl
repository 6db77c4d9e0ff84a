target {
  qps = 20000
}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}
scale { count = [0, 1] }

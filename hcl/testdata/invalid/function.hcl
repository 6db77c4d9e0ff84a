target { qps = max(1, 2) }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

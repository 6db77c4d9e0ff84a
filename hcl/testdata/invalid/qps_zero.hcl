target { qps = 0 }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

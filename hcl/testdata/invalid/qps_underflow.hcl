target { qps = 1e-999 }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

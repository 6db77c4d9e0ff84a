target { qps = 1e999 }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

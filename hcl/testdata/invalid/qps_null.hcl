target { qps = null }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

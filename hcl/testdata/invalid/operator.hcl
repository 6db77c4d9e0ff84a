target { qps = 20 * 1000 }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

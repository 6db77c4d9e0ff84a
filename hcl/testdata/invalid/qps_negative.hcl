target { qps = -1 }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

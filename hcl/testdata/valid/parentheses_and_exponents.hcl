target { qps = (2.5e3) }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

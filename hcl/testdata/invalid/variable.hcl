target { qps = var.qps }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

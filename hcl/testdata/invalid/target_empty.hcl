target {}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

target {
  qps           = 100
  finish_within = "10m"
}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

target {
  qps  = 5
  unit = "rows"
}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

target {
  qps = 20000
}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}
slowdown_max = "51%"

target {
  qps = 20000
}
target { best_effort = true }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

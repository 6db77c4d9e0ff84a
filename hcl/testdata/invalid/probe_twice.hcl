target {
  qps = 20000
}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}
probe "log" { pattern = "x([0-9]+)" }

target "main" { qps = 5 }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

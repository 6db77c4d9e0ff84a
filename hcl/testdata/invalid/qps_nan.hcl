target { qps = nan }

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

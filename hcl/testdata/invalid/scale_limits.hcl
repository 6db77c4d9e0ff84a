target {
  qps = 20000
}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

scale {
  count  = [100000]
  cores  = [5000]
  memory = [1, 99999999]
}

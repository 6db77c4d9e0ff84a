target {
  qps = 20000
}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}

scale {
  count  = [4, 1, 2]
  memory = [
    512, # comments and line breaks are fine
    256,
  ]
}

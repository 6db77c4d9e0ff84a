target {
  qps = 20000
}

probe "prometheus" {
  port = 9090
  rate = "r"
}

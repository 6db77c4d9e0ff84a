target {
  qps = 20000
}
probe "prometheus" { path = "/m" }

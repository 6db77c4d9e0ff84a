target {
  qps = 20000
}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}
slowdown = "5%"
polcy = "paragon"
zzz = 1

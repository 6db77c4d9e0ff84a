target {
  qps = 20000
}

probe "prometheus" {
  port    = "metrics"
  rate    = "requests_total{code=\"200\"}"
  path    = "/stats"
  timeout = "1s"
}
slowdown_max = "2.5%"
policy       = "least-loaded"
hold         = "2m"
move         = true
near         = ["cache", "store/db"]
profile {
  seconds = 60
  sources = ["mem_bw", "llc_cap"]
}

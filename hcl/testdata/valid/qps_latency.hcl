performance { # the block as it stands in a group
  target {
    qps = 20000
    latency {
      percentile = 99
      max        = "5ms"
    }
  }
  probe "prometheus" {
    port    = "metrics"
    rate    = "cache_requests_total"
    latency = "cache_request_seconds"
  }
  scale {
    count  = [1, 2, 4]
    cores  = [1, 2]
    memory = [256, 512]
  }
  slowdown_max = "5%"
}

target {
  qps = 1e12
  latency {
    percentile = 99.999
    max        = "1h"
  }
}
probe "prometheus" {
  port    = "m"
  rate    = "r"
  latency = "l"
}
slowdown_max = "50%"
hold         = "24h"
scale { count = [10000] }
profile { seconds = 600 }

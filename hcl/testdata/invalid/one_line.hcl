target  { qps = 20000  latency { percentile = 99  max = "5ms" } }

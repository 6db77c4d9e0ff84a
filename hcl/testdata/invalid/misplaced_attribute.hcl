qps = 5
percentile = 99
port = "metrics"

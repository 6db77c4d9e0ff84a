target {
  qps = 5

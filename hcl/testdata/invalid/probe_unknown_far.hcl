target {
  qps = 20000
}
probe "statsd" {}

target {
  qps = 20000
}
probe { port = "metrics" }

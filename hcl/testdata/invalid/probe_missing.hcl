target {
  qps = 20000
}

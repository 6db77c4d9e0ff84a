target {
  qps = 5
  qps = 6
}

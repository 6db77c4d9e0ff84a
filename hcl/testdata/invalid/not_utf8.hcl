target {
  qps = 5 # ÿþ café
}

target {
  qps = 20000
}
probe "promtheus" { port = "metrics" }

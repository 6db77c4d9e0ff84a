performance {
  target {
    qps  = -20000
    rate = var.x
    latencyy {}
  }
  probe "promtheus" { port = 8 }
  scale {
    count  = [1, 1, 0, 2.5]
    memory = 512
  }
  slowdown_max = 5
  polcy        = "x"
  policy       = "paragn"
}

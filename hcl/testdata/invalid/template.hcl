target {
  qps = 20000
}

probe "prometheus" {
  port = "${NOMAD_PORT_metrics}"
  rate = "r"
}

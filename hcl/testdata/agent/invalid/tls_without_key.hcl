listen = "0.0.0.0:9464"

tls {
  cert_file = "/etc/agent.pem"
}

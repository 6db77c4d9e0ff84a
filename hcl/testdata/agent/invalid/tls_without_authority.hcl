tls {
  cert_file     = "/etc/agent.pem"
  key_file      = "/etc/agent-key.pem"
  verify_client = true
}

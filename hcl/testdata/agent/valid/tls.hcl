metrics = "token"

tls {
  cert_file      = "/etc/agent.pem"
  key_file       = "/etc/agent-key.pem"
  client_ca_file = "/etc/ca.pem"
  verify_client  = true
}

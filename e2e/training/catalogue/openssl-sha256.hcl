application "openssl-sha256" {
  about     = "SHA-256 of libcrypto"
  packages  = ["openssl"]
  stresses  = ["cpu"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "262144"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec openssl dgst -sha256"
}

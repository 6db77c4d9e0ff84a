application "openssl-cbc" {
  about     = "AES-256-CBC"
  packages  = ["openssl"]
  stresses  = ["cpu (AES units)", "page cache"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "262144"]
  unit      = "MB of input"
  memory_mb = 128
  tier      = 2
  run       = "exec openssl enc -aes-256-cbc -K 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff -iv 00000000000000000000000000000000"
}

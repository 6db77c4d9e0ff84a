application "openssl-chacha20" {
  about     = "a stream cipher in vector instructions"
  packages  = ["openssl"]
  stresses  = ["vector"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "262144"]
  unit      = "MB of input"
  memory_mb = 128
  tier      = 2
  run       = "exec openssl enc -chacha20 -K 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff -iv 00000000000000000000000000000000"
}

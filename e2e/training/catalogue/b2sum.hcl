application "b2sum" {
  about     = "BLAKE2"
  packages  = ["coreutils"]
  stresses  = ["cpu"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "262144"]
  unit      = "MB of input"
  memory_mb = 128
  tier      = 2
  run       = "exec b2sum"
}

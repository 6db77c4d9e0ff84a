application "sha256sum" {
  about     = "SHA-256 of the coreutils"
  packages  = ["coreutils"]
  stresses  = ["cpu"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "262144"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec sha256sum"
}

application "sha256-paced" {
  about     = "checksums of what arrives slowly"
  packages  = ["coreutils"]
  stresses  = ["cpu"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "262144", "-pause", "8ms"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec sha256sum"
}

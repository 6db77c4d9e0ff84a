application "gzip-dec" {
  about     = "inflate"
  packages  = ["gzip"]
  stresses  = ["cpu"]
  inputs    = ["text.gz"]
  loop      = ["-feed", "$INPUT/text.gz", "-chunk", "32768"]
  unit      = "MB of input"
  memory_mb = 128
  tier      = 2
  run       = "exec gzip -dc"
}

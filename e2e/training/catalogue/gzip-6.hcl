application "gzip-6" {
  about     = "deflate"
  packages  = ["gzip"]
  stresses  = ["cpu", "l1"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "32768"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec gzip -6 -c"
}

application "xz-1" {
  about     = "LZMA with a 1 MB dictionary"
  packages  = ["xz-utils"]
  stresses  = ["cpu", "l2"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "65536", "-output"]
  unit      = "MB of output"
  memory_mb = 128
  tier      = 2
  run       = "exec xz -1 -T1 -c"
}

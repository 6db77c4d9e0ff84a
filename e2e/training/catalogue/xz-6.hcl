application "xz-6" {
  about     = "LZMA with an 8 MB dictionary"
  packages  = ["xz-utils"]
  stresses  = ["cpu", "llc"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "65536", "-output"]
  unit      = "MB of output"
  memory_mb = 200
  run       = "exec xz -6 -T1 -c"
}

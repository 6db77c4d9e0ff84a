application "xz-dec" {
  about     = "LZMA decompression"
  packages  = ["xz-utils"]
  stresses  = ["cpu", "memory latency"]
  inputs    = ["text.xz"]
  loop      = ["-feed", "$INPUT/text.xz", "-chunk", "4096"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec xz -T1 -dc"
}

application "zstd-dec" {
  about     = "decompression"
  packages  = ["zstd"]
  stresses  = ["memory bandwidth", "cpu"]
  inputs    = ["text.zst"]
  loop      = ["-feed", "$INPUT/text.zst", "-chunk", "65536"]
  unit      = "MB of input"
  memory_mb = 128
  tier      = 2
  run       = "exec zstd -q -dc"
}

application "lz4-9" {
  about     = "dense compression with long hash chains"
  packages  = ["lz4"]
  stresses  = ["cpu", "l1"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "65536"]
  unit      = "MB of input"
  memory_mb = 128
  tier      = 2
  run       = "exec lz4 -q -9 -c"
}

application "lz4-1" {
  about     = "compression at the speed of memory"
  packages  = ["lz4"]
  stresses  = ["memory bandwidth"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "262144"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec lz4 -q -1 -c"
}

application "zstd-3" {
  about     = "fast compression"
  packages  = ["zstd"]
  stresses  = ["cpu", "l2"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "131072"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec zstd -q -3 -T1 -c --single-thread"
}

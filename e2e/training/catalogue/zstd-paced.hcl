application "zstd-paced" {
  about     = "compression of what arrives slowly"
  packages  = ["zstd"]
  stresses  = ["cpu", "l2"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "131072", "-pause", "5ms"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec zstd -q -6 -T1 -c --single-thread"
}

application "zstd-19" {
  about     = "dense compression over an 8 MB window"
  packages  = ["zstd"]
  stresses  = ["llc", "memory latency"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "65536"]
  unit      = "MB of input"
  memory_mb = 256
  run       = "exec zstd -q -19 -c --single-thread"
}

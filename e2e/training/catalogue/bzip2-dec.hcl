application "bzip2-dec" {
  about     = "inverse block sorting: random reads of 3.6 MB"
  packages  = ["bzip2"]
  stresses  = ["l2", "memory latency"]
  inputs    = ["text.bz2"]
  loop      = ["-feed", "$INPUT/text.bz2", "-chunk", "4096"]
  unit      = "MB of input"
  memory_mb = 128
  tier      = 2
  run       = "exec bzip2 -dc"
}

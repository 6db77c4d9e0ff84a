application "bzip2-9" {
  about     = "block sorting of 900 kB"
  packages  = ["bzip2"]
  stresses  = ["l2", "branch prediction"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "16384"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec bzip2 -9 -c"
}

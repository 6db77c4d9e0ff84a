application "brotli-5" {
  about     = "compression with a 256 kB window"
  packages  = ["brotli"]
  stresses  = ["cpu", "l2"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "65536"]
  unit      = "MB of input"
  memory_mb = 200
  tier      = 2
  run       = "exec brotli -q 5 -w 18 -c -"
}

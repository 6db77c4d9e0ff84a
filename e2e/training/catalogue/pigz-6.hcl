application "pigz-6" {
  about     = "deflate on every CPU it has"
  packages  = ["pigz"]
  stresses  = ["cpu", "two cores"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "131072"]
  unit      = "MB of input"
  memory_mb = 128
  threads   = 2
  run       = "exec pigz -p \"$CORES\" -6 -c"
}

application "mawk-fields" {
  about     = "sums of fields"
  packages  = ["mawk"]
  stresses  = ["cpu"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "65536"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec mawk '{ n[$1]++; s += NF } END { print s }'"
}

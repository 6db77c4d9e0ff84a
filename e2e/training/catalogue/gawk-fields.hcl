application "gawk-fields" {
  about     = "sums of fields, with multi-byte characters"
  packages  = ["gawk"]
  stresses  = ["cpu", "l1"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "65536"]
  unit      = "MB of input"
  memory_mb = 128
  tier      = 2
  run       = "LC_ALL=C.UTF-8 exec gawk '{ n[$1]++; s += NF } END { print s }'"
}

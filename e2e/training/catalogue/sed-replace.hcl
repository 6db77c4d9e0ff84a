application "sed-replace" {
  about     = "replacement by a regular expression"
  packages  = ["sed"]
  stresses  = ["cpu", "l1"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "32768"]
  unit      = "MB of input"
  memory_mb = 128
  tier      = 2
  run       = "LC_ALL=C exec sed -E 's/([a-z]+)_([a-z]+)/\\2_\\1/g; s/ +$//'"
}

application "grep-regex" {
  about     = "search by a regular expression"
  packages  = ["grep"]
  stresses  = ["cpu", "l1"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "131072"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "LC_ALL=C exec grep -Ec '[a-f]+[0-9]?(xy|qz)+[^ ]*k'"
}

application "jq-paced" {
  about     = "selection in a slow stream of JSON"
  packages  = ["jq"]
  stresses  = ["interpreter", "memory allocation"]
  inputs    = ["records"]
  loop      = ["-feed", "$INPUT/records", "-chunk", "16384", "-pause", "10ms"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec jq -c 'select(.value < 0.2) | {id, most: (.list | max)}'"
}

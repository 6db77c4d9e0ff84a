application "jq-filter" {
  about     = "selection in a stream of JSON"
  packages  = ["jq"]
  stresses  = ["interpreter", "memory allocation"]
  inputs    = ["records"]
  loop      = ["-feed", "$INPUT/records", "-chunk", "32768"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec jq -c 'select(.value > 0.5) | {id, total: (.list | add)}'"
}

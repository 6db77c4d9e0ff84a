application "sort-text" {
  about     = "sorting of lines"
  packages  = ["coreutils"]
  stresses  = ["memory", "branch prediction"]
  inputs    = ["lines"]
  unit      = "files"
  memory_mb = 200
  run       = "LC_ALL=C exec sort -S 64M --parallel=1 -o /dev/null \"$INPUT/lines\""
}

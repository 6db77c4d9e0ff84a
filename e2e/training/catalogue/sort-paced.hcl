application "sort-paced" {
  about     = "sorts a little text, then waits for more"
  packages  = ["coreutils"]
  stresses  = ["cpu", "memory allocation"]
  inputs    = ["lines"]
  loop      = ["-pause", "20ms"]
  unit      = "runs"
  memory_mb = 128
  run       = "head -c 1000000 \"$INPUT/lines\" | LC_ALL=C sort > /dev/null"
}

application "convert-blur" {
  about     = "picture filter"
  packages  = ["imagemagick"]
  stresses  = ["floating point", "memory bandwidth"]
  inputs    = ["picture"]
  unit      = "pictures"
  memory_mb = 200
  tier      = 2
  run       = "exec convert -limit thread 1 \"$INPUT/picture\" -blur 0x1 ppm:/dev/null"
}

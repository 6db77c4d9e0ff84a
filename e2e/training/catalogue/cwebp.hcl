application "cwebp" {
  about     = "picture compression"
  packages  = ["webp"]
  stresses  = ["cpu", "l2"]
  inputs    = ["picture"]
  unit      = "pictures"
  memory_mb = 128
  tier      = 2
  run       = "exec cwebp -quiet -m 2 -o /dev/null -- \"$INPUT/picture\""
}

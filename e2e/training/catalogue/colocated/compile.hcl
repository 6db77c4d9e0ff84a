application "compile" {
  about     = "gcc: compilation of a source tree (their compile)"
  packages  = ["gcc"]
  stresses  = ["cpu", "disk operations"]
  inputs    = ["tree"]
  data      = "cp -r \"$INPUT/tree/.\" . && mkdir objects"
  loop      = ["-lines"]
  unit      = "object files"
  memory_mb = 256
  disk      = true
  run       = "while :; do for source in sources/*.c; do gcc -O1 -Iinclude -c -o \"objects/$${source##*/}.o\" \"$source\" && echo || exit 1; done; done"
}

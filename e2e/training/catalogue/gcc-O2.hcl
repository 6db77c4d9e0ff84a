application "gcc-O2" {
  about     = "compilation of C"
  packages  = ["gcc"]
  stresses  = ["instruction cache", "llc"]
  inputs    = ["source.c"]
  unit      = "compilations"
  memory_mb = 200
  run       = "exec gcc -O2 -S -o /dev/null \"$INPUT/source.c\""
}

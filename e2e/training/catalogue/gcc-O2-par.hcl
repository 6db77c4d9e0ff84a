application "gcc-O2-par" {
  about     = "compilation of C, one per CPU"
  packages  = ["gcc"]
  stresses  = ["instruction cache", "two cores"]
  inputs    = ["source.c"]
  loop      = ["-parallel", "$CORES"]
  unit      = "compilations"
  memory_mb = 300
  threads   = 2
  tier      = 2
  run       = "exec gcc -O2 -S -o /dev/null \"$INPUT/source.c\""
}

application "clasp" {
  about     = "satisfiability by answer sets"
  packages  = ["clasp"]
  stresses  = ["branch prediction", "l2"]
  inputs    = ["formula"]
  unit      = "formulas"
  memory_mb = 128
  tier      = 2
  run       = "clasp --quiet=2 --verbose=0 \"$INPUT/formula\" > /dev/null; test $? -ge 10"
}

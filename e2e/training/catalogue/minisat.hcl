application "minisat" {
  about     = "satisfiability, random 3-SAT"
  packages  = ["minisat"]
  stresses  = ["branch prediction", "l2"]
  inputs    = ["formula"]
  unit      = "formulas"
  memory_mb = 128
  run       = "minisat -verb=0 \"$INPUT/formula\" > /dev/null; test $? -ge 10"
}

application "gawk-paced" {
  about     = "a report every now and then"
  packages  = ["gawk"]
  stresses  = ["interpreter"]
  inputs    = ["lines"]
  loop      = ["-pause", "60ms"]
  unit      = "runs"
  memory_mb = 128
  run       = "head -c 1000000 \"$INPUT/lines\" | gawk '{ n[length($1)] += NF } END { for (k in n) s += n[k]; exit s == 0 }'"
}

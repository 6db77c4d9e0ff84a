application "itemsets" {
  about     = "gawk: items and pairs of items of transactions are counted (their freqmine)"
  packages  = ["gawk"]
  stresses  = ["cpu", "disk"]
  inputs    = ["transactions"]
  data      = "cp \"$INPUT/transactions\" ."
  loop      = ["-io", "read-bytes"]
  unit      = "MB of transactions"
  memory_mb = 256
  disk      = true
  run       = "LC_ALL=C gawk '{ for (i = 1; i <= NF; i += 8) { n[$i]++; p[$i % 64, $(i+1) % 64]++ } } END { print length(n), length(p) }' transactions && dd if=transactions iflag=nocache count=0 status=none"
}

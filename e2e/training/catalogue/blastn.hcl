application "blastn" {
  about     = "search of nucleotides"
  packages  = ["ncbi-blast+"]
  stresses  = ["memory latency", "llc"]
  inputs    = ["nt"]
  loop      = ["-feed", "$INPUT/nt/queries", "-chunk", "4096"]
  unit      = "MB of queries"
  memory_mb = 300
  run       = "BATCH_SIZE=3000 exec blastn -db \"$INPUT/nt/db\" -task blastn -query - -outfmt 6"
}

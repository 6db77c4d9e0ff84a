application "blastp" {
  about     = "search of proteins"
  packages  = ["ncbi-blast+"]
  stresses  = ["cpu", "l2"]
  inputs    = ["aa"]
  loop      = ["-feed", "$INPUT/aa/queries", "-chunk", "4096", "-output"]
  unit      = "MB of hits"
  memory_mb = 300
  run       = "BATCH_SIZE=300 exec blastp -db \"$INPUT/aa/db\" -query - -outfmt 6 -comp_based_stats 0 -max_hsps 1 -max_target_seqs 1 -num_threads 1 2>/dev/null"
}

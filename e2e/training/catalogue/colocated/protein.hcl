application "protein" {
  about     = "blastp: search of proteins (their blastp)"
  packages  = ["ncbi-blast+"]
  stresses  = ["cpu", "disk"]
  inputs    = ["proteome"]
  data      = "cp -r \"$INPUT/proteome/.\" ."
  loop      = ["-lines"]
  unit      = "parts of the database, of 10 MB"
  memory_mb = 256
  disk      = true
  run       = "while :; do for part in *.psq; do blastp -db \"$${part%.psq}\" -query queries -outfmt 6 -out /dev/null -comp_based_stats 0 && echo && dd if=\"$part\" iflag=nocache count=0 status=none || exit 1; done; done"
}

application "nucleotide" {
  about     = "blastn: search of nucleotides (their blastn)"
  packages  = ["ncbi-blast+"]
  stresses  = ["disk", "cpu"]
  inputs    = ["dna"]
  data      = "cp -r \"$INPUT/dna/.\" ."
  loop      = ["-lines"]
  unit      = "parts of the database, of 20 MB"
  memory_mb = 256
  disk      = true
  run       = "while :; do for part in *.nsq; do blastn -db \"$${part%.nsq}\" -query queries -outfmt 6 -out /dev/null && echo && dd if=\"$part\" iflag=nocache count=0 status=none || exit 1; done; done"
}

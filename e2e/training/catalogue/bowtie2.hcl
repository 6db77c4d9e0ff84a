application "bowtie2" {
  about     = "alignment of short reads by an FM index"
  packages  = ["bowtie2"]
  stresses  = ["memory latency", "llc"]
  inputs    = ["bowtie2"]
  loop      = ["-feed", "$INPUT/bowtie2/reads", "-chunk", "16384"]
  unit      = "MB of reads"
  memory_mb = 300
  tier      = 2
  run       = "exec bowtie2 --quiet -p 1 --reads-per-batch 64 -x \"$INPUT/bowtie2/ref\" -U -"
}

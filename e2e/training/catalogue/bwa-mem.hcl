application "bwa-mem" {
  about     = "alignment of short reads"
  packages  = ["bwa"]
  stresses  = ["memory latency"]
  inputs    = ["bwa"]
  loop      = ["-feed", "$INPUT/bwa/reads", "-chunk", "16384"]
  unit      = "MB of reads"
  memory_mb = 300
  run       = "exec bwa mem -v 1 -t 1 -K 20000 \"$INPUT/bwa/ref\" -"
}

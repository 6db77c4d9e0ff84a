application "sysbench-mem" {
  about     = "writes of 1 MiB blocks"
  packages  = ["sysbench"]
  stresses  = ["memory bandwidth"]
  unit      = "400 blocks"
  memory_mb = 128
  run       = "exec sysbench memory --memory-block-size=1M --memory-total-size=400M --time=0 run > /dev/null"
}

application "fio-seqwrite" {
  about     = "sequential writes of 1 MiB past the page cache"
  packages  = ["fio"]
  stresses  = ["disk bandwidth"]
  loop      = ["-io", "write-bytes"]
  unit      = "MB written"
  memory_mb = 128
  disk      = true
  run       = "exec fio --name=run --thread --ioengine=psync --filename=data --time_based --runtime=7d --output=/dev/null --randseed=7 --disk_util=0 --gtod_reduce=1 --rw=write --bs=1m --direct=1 --size=256m"
}

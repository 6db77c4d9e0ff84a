application "fio-randread" {
  about     = "random reads of 4 KiB past the page cache"
  packages  = ["fio"]
  stresses  = ["disk operations"]
  loop      = ["-io", "calls"]
  unit      = "reads"
  memory_mb = 128
  disk      = true
  run       = "exec fio --name=run --thread --ioengine=psync --filename=data --time_based --runtime=7d --output=/dev/null --randseed=7 --disk_util=0 --gtod_reduce=1 --rw=randread --bs=4k --direct=1 --size=256m"
}

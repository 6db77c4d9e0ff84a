application "fio-fsync" {
  about     = "random writes of 4 KiB, made durable one in eight"
  packages  = ["fio"]
  stresses  = ["disk latency"]
  loop      = ["-io", "calls"]
  unit      = "writes"
  memory_mb = 256
  disk      = true
  run       = "exec fio --name=run --thread --ioengine=psync --filename=data --time_based --runtime=7d --output=/dev/null --randseed=7 --disk_util=0 --gtod_reduce=1 --rw=randwrite --bs=4k --fsync=8 --size=128m"
}

application "sysbench-fileio" {
  about     = "random reads and writes in the page cache"
  packages  = ["sysbench"]
  stresses  = ["kernel time", "page cache"]
  loop      = ["-io", "calls"]
  unit      = "reads and writes"
  memory_mb = 200
  disk      = true
  tier      = 2
  run = <<-EOT
    sysbench fileio --file-num=4 --file-total-size=64M prepare > /dev/null
    exec sysbench fileio --file-num=4 --file-total-size=64M --file-test-mode=rndrw --file-fsync-freq=0 --file-fsync-end=off --time=0 --events=0 --rand-seed=7 run > /dev/null
  EOT
}

application "dbbench-fill" {
  about     = "writes to a log-structured store, with compaction"
  packages  = ["rocksdb-tools"]
  stresses  = ["disk", "llc", "two cores"]
  loop      = ["-lines"]
  unit      = "200 writes"
  memory_mb = 400
  threads   = 2
  disk      = true
  tier      = 2
  run       = "exec db_bench --db=store --benchmarks=overwrite --num=300000 --duration=1000000 --seed=7 --write_buffer_size=8388608 --stats_interval=200 2>&1 > /dev/null"
}

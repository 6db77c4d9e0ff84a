application "dbbench-readrandom" {
  about           = "look-ups in a log-structured store; the block cache is the size that is varied"
  packages        = ["rocksdb-tools"]
  stresses        = ["llc", "memory latency"]
  inputs          = ["rocksdb"]
  loop            = ["-lines"]
  unit            = "200 look-ups"
  memory_mb       = 300
  memory_sizes_mb = [2, 16, 128]
  run             = "exec db_bench --db=\"$INPUT/rocksdb\" --use_existing_db --readonly --benchmarks=readrandom --num=500000 --duration=1000000 --seed=7 --cache_size=$((MEMORY_MB * 1048576)) --stats_interval=200 2>&1 > /dev/null"
}

application "redis-large" {
  about           = "key-value store, 4 KiB values; the data is the size that is varied"
  packages        = ["redis-server"]
  stresses        = ["memory bandwidth", "kernel network"]
  loop            = ["-requests", "redis", "-target", "127.0.0.1:$APP_PORT", "-connections", "16", "-keys", "$KEYS_4K", "-value-bytes", "4096", "-read-fraction", "0.9"]
  unit            = "requests"
  memory_mb       = 600
  memory_sizes_mb = [8, 64, 256]
  tier            = 2
  run             = "exec redis-server --bind 127.0.0.1 --port \"$APP_PORT\" --save '' --daemonize no --appendonly no > /dev/null"
}

application "redis-aof" {
  about     = "key-value store, every write made durable"
  packages  = ["redis-server"]
  stresses  = ["disk latency", "kernel network"]
  loop      = ["-requests", "redis", "-target", "127.0.0.1:$APP_PORT", "-connections", "20", "-keys", "10000", "-value-bytes", "64", "-read-fraction", "0"]
  unit      = "requests"
  memory_mb = 200
  disk      = true
  run       = "exec redis-server --bind 127.0.0.1 --port \"$APP_PORT\" --save '' --daemonize no --appendonly yes --appendfsync always --auto-aof-rewrite-percentage 0 > /dev/null"
}

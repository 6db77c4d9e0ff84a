application "redis-get-set" {
  about     = "key-value store, 256-byte values"
  packages  = ["redis-server"]
  stresses  = ["kernel network", "instruction cache"]
  loop      = ["-requests", "redis", "-target", "127.0.0.1:$APP_PORT", "-connections", "32", "-keys", "100000", "-value-bytes", "256", "-read-fraction", "0.5"]
  unit      = "requests"
  memory_mb = 300
  run       = "exec redis-server --bind 127.0.0.1 --port \"$APP_PORT\" --save '' --daemonize no --appendonly no > /dev/null"
}

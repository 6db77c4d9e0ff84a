application "redis-paced" {
  about     = "key-value store at a fifth of its speed"
  packages  = ["redis-server"]
  stresses  = ["kernel network"]
  loop      = ["-requests", "redis", "-target", "127.0.0.1:$APP_PORT", "-connections", "8", "-pause", "2ms", "-keys", "20000", "-value-bytes", "256", "-read-fraction", "0.8"]
  unit      = "requests"
  memory_mb = 200
  run       = "exec redis-server --bind 127.0.0.1 --port \"$APP_PORT\" --save '' --daemonize no --appendonly no > /dev/null"
}

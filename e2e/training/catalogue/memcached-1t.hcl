application "memcached-1t" {
  about     = "cache, small values, one thread"
  packages  = ["memcached"]
  stresses  = ["kernel network", "llc"]
  loop      = ["-requests", "memcached", "-target", "127.0.0.1:$APP_PORT", "-connections", "16", "-keys", "200000", "-value-bytes", "100", "-read-fraction", "0.9"]
  unit      = "requests"
  memory_mb = 400
  run       = "exec memcached -u nobody -l 127.0.0.1 -p \"$APP_PORT\" -U 0 -t 1 -m 256"
}

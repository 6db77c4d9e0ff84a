application "memcached-paced" {
  about     = "cache that is hardly asked"
  packages  = ["memcached"]
  stresses  = ["kernel network"]
  loop      = ["-requests", "memcached", "-target", "127.0.0.1:$APP_PORT", "-connections", "16", "-pause", "25ms", "-keys", "50000", "-value-bytes", "100", "-read-fraction", "0.9"]
  unit      = "requests"
  memory_mb = 300
  run       = "exec memcached -u nobody -l 127.0.0.1 -p \"$APP_PORT\" -U 0 -t 1 -m 128"
}

application "memcached-4k" {
  about           = "cache, 4 KiB values, a thread per CPU"
  packages        = ["memcached"]
  stresses        = ["memory bandwidth", "kernel network"]
  loop            = ["-requests", "memcached", "-target", "127.0.0.1:$APP_PORT", "-connections", "32", "-keys", "$KEYS_4K", "-value-bytes", "4096", "-read-fraction", "0.9"]
  unit            = "requests"
  memory_mb       = 700
  threads         = 2
  memory_sizes_mb = [8, 64, 256]
  run             = "exec memcached -u nobody -l 127.0.0.1 -p \"$APP_PORT\" -U 0 -t \"$CORES\" -m 600"
}

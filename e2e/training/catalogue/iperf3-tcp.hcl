application "iperf3-tcp" {
  about     = "a stream over loopback TCP"
  packages  = ["iperf3"]
  stresses  = ["kernel network", "memory bandwidth"]
  loop      = ["-io", "write-bytes"]
  unit      = "MB written"
  memory_mb = 128
  threads   = 2
  run = <<-EOT
    iperf3 -s -1 -p "$APP_PORT" --bind 127.0.0.1 > /dev/null &
    for try in $(seq 50); do ss -Hltn "sport = :$APP_PORT" | grep -q . && break; sleep 0.1; done
    exec iperf3 -c 127.0.0.1 -p "$APP_PORT" -t 0 -i 0 > /dev/null
  EOT
}

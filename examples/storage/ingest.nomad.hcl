# A store of logs in small: every 210 ms there are 5 MiB more to write past the page cache, 25 MB
# a second. It does not keep up on a disk of 40 MB/s next to another one like it.
job "ingest" {
  type = "service"

  group "main" {
    performance {
      target {
        rate = 23
        unit = "MB"
      }
      probe "log" {
        pattern = "moved (\\d+) MB"
      }
      profile {
        skip = true
      }
      policy = "bloc"

      # By its twin: nomad-placer twin show ingest.twin
      disk {
        bandwidth = 26
      }
    }

    ephemeral_disk {
      size = 200
    }

    task "write" {
      driver      = "raw_exec"
      kill_signal = "SIGKILL"
      config {
        command = "/bin/bash"
        args    = ["local/ingest.sh"]
      }
      template {
        destination = "local/ingest.sh"
        data        = <<EOT
blocks=0
next=$(date +%s%3N)
while :; do
  dd if=/dev/zero of="$NOMAD_ALLOC_DIR/data/ingest" bs=1M count=5 oflag=direct conv=notrunc status=none || exit 1
  blocks=$((blocks + 1))
  echo "moved $((blocks * 5243 / 1000)) MB"
  next=$((next + 210))
  rest=$((next - $(date +%s%3N)))
  if [ "$rest" -gt 0 ]; then
    sleep "0.$(printf %03d "$rest")"
  fi
done
EOT
      }
      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}

# redis with 12,000 values of 4 KiB, asked for them by its own clients.
job "store" {
  type = "service"
  [[ .Where ]]

  group "main" {
    count = [[ .Count ]]
    [[ .Performance ]]

    # Without its memory it fails at once and for good.
    restart {
      attempts = 0
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }

    network {
      port "metrics" {}
      port "app" {}
    }

    task "store" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/workload"
        args = ["loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-requests", "redis", "-target", "127.0.0.1:${NOMAD_PORT_app}", "-connections", "8", "-keys", "12000", "-value-bytes", "4096",
        "--", "/bin/sh", "-c", <<-EOT
          exec redis-server --bind 127.0.0.1 --port "$NOMAD_PORT_app" --save '' --appendonly no > /dev/null
        EOT
        ]
      }
      [[ .Run "store" ]]
    }
  }
}

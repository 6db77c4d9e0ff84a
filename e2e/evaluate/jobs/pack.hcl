# xz -6, whose dictionary and tables want most of 100 MB.
job "pack" {
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
    }

    task "pack" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/workload"
        args = ["loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-feed", "[[ .Inputs ]]/text", "-chunk", "65536",
        "--", "/bin/sh", "-c", <<-EOT
          exec xz -6 -T1 -c
        EOT
        ]
      }
      [[ .Run "pack" ]]
    }
  }
}

# sort with a buffer of 120 MB, read again and again.
job "sort" {
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

    task "sort" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/nomad-placer"
        args = ["dev", "loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-feed", "[[ .Inputs ]]/text", "-chunk", "262144",
        "--", "/bin/sh", "-c", <<-EOT
          exec sort -S 120M -T local
        EOT
        ]
      }
      [[ .Run "sort" ]]
    }
  }
}

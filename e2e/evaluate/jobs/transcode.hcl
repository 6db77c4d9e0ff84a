# x264 with a lookahead of 60 frames, which it keeps in memory.
job "transcode" {
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

    task "transcode" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/workload"
        args = ["loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-feed", "[[ .Inputs ]]/video360", "-chunk", "65536", "-head", "39",
        "--", "/bin/sh", "-c", <<-EOT
          exec x264 --quiet --preset fast --threads 1 --rc-lookahead 60 --demuxer y4m --muxer raw -o /dev/null -
        EOT
        ]
      }
      [[ .Run "transcode" ]]
    }
  }
}

# Video encoding with x264, one thread.
job "encode" {
  type = "service"
  [[ .Where ]]

  group "main" {
    count = [[ .Count ]]
    [[ .Performance ]]

    network {
      port "metrics" {}
    }

    task "encode" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/workload"
        args = ["loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-feed", "[[ .Inputs ]]/video360", "-chunk", "65536", "-head", "39",
        "--", "/bin/sh", "-c", <<-EOT
          exec x264 --quiet --preset medium --threads 1 --sync-lookahead 0 --rc-lookahead 10 --demuxer y4m --muxer raw -o /dev/null -
        EOT
        ]
      }
      [[ .Run "encode" ]]
    }
  }
}

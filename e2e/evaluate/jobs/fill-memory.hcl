# Best effort: lz4 at the speed of memory.
job "fill-memory" {
  type = "service"
  [[ .Where ]]

  group "main" {
    count = [[ .Count ]]
    [[ .Performance ]]

    network {
      port "metrics" {}
    }

    task "fill-memory" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/workload"
        args = ["loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-feed", "[[ .Inputs ]]/text", "-chunk", "262144",
        "--", "/bin/sh", "-c", <<-EOT
          exec lz4 -q -1 -c
        EOT
        ]
      }
      [[ .Run "fill-memory" ]]
    }
  }
}

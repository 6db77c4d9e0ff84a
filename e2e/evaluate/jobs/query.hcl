# jq over a stream of JSON records.
job "query" {
  type = "service"
  [[ .Where ]]

  group "main" {
    count = [[ .Count ]]
    [[ .Performance ]]

    network {
      port "metrics" {}
    }

    task "query" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/workload"
        args = ["loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-feed", "[[ .Inputs ]]/records", "-chunk", "32768",
        "--", "/bin/sh", "-c", <<-EOT
          exec jq -c 'select(.value > 0.5) | {id, total: (.list | add)}'
        EOT
        ]
      }
      [[ .Run "query" ]]
    }
  }
}

# Best effort: decimals of pi.
job "fill-cpu" {
  type = "service"
  [[ .Where ]]

  group "main" {
    count = [[ .Count ]]
    [[ .Performance ]]

    network {
      port "metrics" {}
    }

    task "fill-cpu" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/workload"
        args = ["loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-lines",
        "--", "/bin/sh", "-c", <<-EOT
          echo 'scale=120; while (1) { x = 4*a(1/3); print "\n" }' > local/pi.bc
          exec stdbuf -oL bc -lq local/pi.bc < /dev/null
        EOT
        ]
      }
      [[ .Run "fill-cpu" ]]
    }
  }
}

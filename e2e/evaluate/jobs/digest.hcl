# A worker that fetches an object every 40 ms and signs its SHA-256 with openssl.
job "digest" {
  type = "service"
  [[ .Where ]]

  group "main" {
    count = [[ .Count ]]
    [[ .Performance ]]

    network {
      port "metrics" {}
    }

    task "digest" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/workload"
        args = ["loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-lines",
        "--", "/bin/sh", "-c", <<-EOT
          head -c 2000000 "[[ .Inputs ]]/text" > local/object
          while true; do
            openssl dgst -sha256 local/object > /dev/null || exit 1
            echo
            sleep 0.04
          done
        EOT
        ]
      }
      [[ .Run "digest" ]]
    }
  }
}

# A worker that fetches an item every 30 ms and compresses it with gzip: one
# allocation cannot do more, however idle its node is. In the load spike each item
# is four times as much work.
job "pages" {
  type = "service"
  [[ .Where ]]

  group "main" {
    count = [[ .Count ]]
    [[ .Performance ]]

    network {
      port "metrics" {}
    }

    task "pages" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/nomad-placer"
        args = ["dev", "loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-lines",
        "--", "/bin/sh", "-c", <<-EOT
          head -c 200000 "[[ .Inputs ]]/text" > local/page
          while true; do
            gzip -6 -c local/page > /dev/null || exit 1
            if [ -e "[[ .Spike ]]" ]; then cat local/page local/page local/page | gzip -6 -c > /dev/null || exit 1; fi
            echo
            sleep 0.03
          done
        EOT
        ]
      }
      [[ .Run "pages" ]]
    }
  }
}

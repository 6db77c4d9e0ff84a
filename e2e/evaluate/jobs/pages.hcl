# A worker that fetches an item every 30 ms and compresses it with gzip: one
# allocation cannot do more, however idle its node is. In the load spike items
# are twice as large, which takes twice as long to fetch and to compress.
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
        command = "[[ .Bin ]]/workload"
        args = ["loop", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}", "-lines",
        "--", "/bin/sh", "-c", <<-EOT
          head -c 100000 "[[ .Inputs ]]/text" > local/page
          cat local/page local/page > local/pages
          while true; do
            item=local/page
            wait=0.06
            if [ -e "[[ .Spike ]]" ]; then
              item=local/pages
              wait=0.12
            fi
            sleep $wait
            gzip -6 -c $item > /dev/null || exit 1
            echo
          done
        EOT
        ]
      }
      [[ .Run "pages" ]]
    }
  }
}

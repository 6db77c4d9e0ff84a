# A batch job with a deadline: so many chunks through xz, one process at a time.
job "compress" {
  type = "batch"

  group "compress" {
    performance {
      target {
        finish_within = "90s"
      }
      probe "log" {
        pattern = "chunks done: (\\d+)"
        work    = [[ .Amount ]]
      }
    }

    task "xz" {
      driver = "raw_exec"
      config {
        command = "/bin/bash"
        args = ["-c", <<-EOT
          seq 1 8000 > "$NOMAD_TASK_DIR/chunk"
          for i in $(seq 1 [[ .Amount ]]); do
            xz -6 -T1 -c "$NOMAD_TASK_DIR/chunk" > /dev/null || exit 1
            echo "chunks done: $i"
          done
        EOT
        ]
      }
      resources {
        cpu    = 400
        memory = 160
      }
    }
  }
}

# A batch job with a deadline: chunks through xz, one after the other.
job "compress" {
  type = "batch"
  [[ .Where ]]

  group "main" {
    count = [[ .Count ]]
    [[ .Performance ]]

    task "compress" {
      driver = "raw_exec"
      config {
        command = "/bin/bash"
        args = ["-c", <<-EOT
          seq 1 8000 > "$NOMAD_TASK_DIR/chunk"
          for ((i = 1; i <= [[ .Work ]]; i++)); do
            xz -6 -T1 -c "$NOMAD_TASK_DIR/chunk" > /dev/null || exit 1
            echo "chunks done: $i"
          done
        EOT
        ]
      }
      [[ .Run "compress" ]]
    }
  }
}

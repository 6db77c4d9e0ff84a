# A batch job with a deadline: chunks through xz, one after the other. A profiled
# copy must not end before it was measured.
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
          last=[[ .Work ]]
          if [ -n "$PLACER_PROFILE" ]; then last=100000000; fi
          for ((i = 1; i <= last; i++)); do
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

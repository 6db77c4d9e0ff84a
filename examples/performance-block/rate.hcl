# A worker that must keep a pace: 20 rows per second. A command inside the task
# tells how many rows are done.
job "rows" {
  type = "service"

  group "rows" {
    performance {
      target {
        rate = 20
        unit = "rows"
      }
      probe "exec" {
        command = ["/bin/cat", "local/rows"]
        timeout = "1s"
      }
      profile {
        seconds = 60
        sources = ["mem_bw", "int"]
      }
    }

    task "worker" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["local/worker.sh"]
      }
      template {
        destination = "local/worker.sh"
        data        = <<EOT
rows=0
while :; do
  head -c 4000000 /dev/zero | gzip -1 >/dev/null
  rows=$((rows + 1))
  echo "$rows" >local/rows.new && mv local/rows.new local/rows
done
EOT
      }
      resources {
        cpu    = 1000
        memory = 32
      }
    }
  }
}

# A batch job with a deadline: 600 units of work, done within ten minutes. It
# prints its progress, so its end can be predicted while it runs.
job "digest" {
  type = "batch"

  group "digest" {
    performance {
      target {
        finish_within = "10m"
      }
      probe "log" {
        pattern = "^done ([0-9]+) of"
        work    = 600
      }
      policy = "paragon"
      hold   = "2m"
    }

    task "digest" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["local/digest.sh"]
      }
      template {
        destination = "local/digest.sh"
        data        = <<EOT
set -e
i=0
while [ "$i" -lt 600 ]; do
  head -c 16000000 /dev/zero | sha256sum >/dev/null
  i=$((i + 1))
  echo "done $i of 600"
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

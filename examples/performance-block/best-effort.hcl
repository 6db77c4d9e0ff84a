# Work without a target: it takes what is left over and gives way first. This
# file carries the block as meta, and names the hold pool itself, so that the
# stock `nomad job run` takes it unchanged.
job "scavenger" {
  type      = "service"
  node_pool = "placer"

  group "scavenger" {
    meta {
      performance = <<EOT
        target {
          best_effort = true
        }
        slowdown_max = "20%"
        move         = true
      EOT
    }

    task "scavenger" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "while :; do head -c 16000000 /dev/zero | sha256sum >/dev/null; done"]
      }
      resources {
        cpu    = 100
        memory = 32
      }
    }
  }
}

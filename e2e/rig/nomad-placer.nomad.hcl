# nomad-placer as a Nomad system job: one instance on every client, one of them
# leading. Its only right is the policy attached to its workload identity.
variable "bin" {
  type        = string
  description = "folder of the nomad-placer binary on every client"
}

variable "config" {
  type        = string
  description = "the agent's configuration file"
}

job "nomad-placer" {
  type      = "system"
  node_pool = "all"
  priority  = 90

  group "agent" {
    network {
      port "http" {}
    }

    task "agent" {
      driver = "raw_exec"

      identity {
        env = true
      }

      config {
        command = "${var.bin}/nomad-placer"
        args = [
          "agent",
          "-config", "${NOMAD_TASK_DIR}/agent.hcl",
          "-listen", "127.0.0.1:${NOMAD_PORT_http}",
          "-dashboard-url", "http://127.0.0.1:${NOMAD_PORT_http}",
        ]
      }

      env {
        # The task API: a local socket that accepts the workload identity, so
        # that no address and no long-lived token has to be configured.
        NOMAD_ADDR = "unix://${NOMAD_SECRETS_DIR}/api.sock"
      }

      template {
        destination = "local/agent.hcl"
        data        = var.config
      }

      resources {
        cpu    = 100
        memory = 128
      }

      kill_timeout = "15s"
    }
  }
}

# The pages of nomad-placer and the metrics of its own node on every client, beside the
# agents of service.nomad.hcl. It reads, and changes nothing: its policy is
# pages.policy.hcl.
#
#   nomad job run examples/install/pages.nomad.hcl
variable "bin" {
  type        = string
  default     = "/usr/local/bin"
  description = "Folder of the nomad-placer binary on every client."
}

variable "namespace" {
  type        = string
  default     = "default"
  description = "Namespace of this job, and of the Variables with its records."
}

variable "config" {
  type        = string
  default     = "policy = \"expected\"\n"
  description = "The agent's configuration, as text: see examples/install/agent.hcl."
}

variable "ip" {
  type        = string
  default     = "127.0.0.1"
  description = "Where the pages are served. With access control on they ask for a Nomad token; with it off, and $${NOMAD_IP_http} here, everyone in the clients' network reads them."
}

variable "user" {
  type        = string
  default     = "root"
  description = "Who the agent runs as. Nomad lets that user alone read its token."
}

variable "port" {
  type        = number
  default     = 9465
  description = "Port of the pages and of /metrics; 0 lets Nomad choose one."
}

job "nomad-placer-pages" {
  namespace = var.namespace
  type      = "system"
  node_pool = "all"
  priority  = 90

  group "pages" {
    network {
      port "http" {
        static = var.port
      }
    }

    # For Prometheus' nomad_sd_configs, and `nomad service info nomad-placer`.
    service {
      name     = "nomad-placer-pages"
      provider = "nomad"
      port     = "http"
      address  = var.ip
    }

    task "pages" {
      driver = "raw_exec"
      user   = var.user

      # A token that ends after an hour, in a file that the user alone can read. Nomad
      # writes it anew before.
      identity {
        name = "placer"
        aud  = ["nomadproject.io"]
        file = true
        ttl  = "1h"
      }

      config {
        command = "${var.bin}/nomad-placer"
        args = [
          "agent", "-role", "pages",
          "-token-file", "${NOMAD_SECRETS_DIR}/nomad_placer.jwt",
          "-config", "${NOMAD_TASK_DIR}/agent.hcl",
          "-listen", "${var.ip}:${NOMAD_PORT_http}",
          "-dashboard-url", "http://${var.ip}:${NOMAD_PORT_http}",
        ]
      }

      env {
        # The task API: a local socket that accepts the workload identity, so
        # that no address, certificate or long-lived token has to be configured.
        NOMAD_ADDR = "unix://${NOMAD_SECRETS_DIR}/api.sock"

        # Collected memory goes back to the node before the agent outgrows its
        # reservation. On more than 5,000 nodes: 190MiB, and memory = 224 below.
        GOMEMLIMIT = "115MiB"
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

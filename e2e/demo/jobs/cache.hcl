# redis under its own open-loop load: so many requests a second, whatever the answer
# takes, so that a slow server shows as latency and not as less load. The demo fills in
# the amounts: a share of what this machine can do.
variable "bin" {
  type        = string
  description = "folder of the nomad-placer binary, which brings the load generator"
}

job "cache" {
  type = "service"

  group "cache" {
    performance {
      target {
        qps = [[ .Amount ]]
        latency {
          percentile = 99
          max        = "[[ .Latency ]]"
        }
      }
      probe "prometheus" {
        port    = "metrics"
        rate    = "load_requests_total"
        latency = "load_request_seconds"
      }
    }

    network {
      port "redis" {}
      port "metrics" {}
    }

    task "redis" {
      driver = "raw_exec"
      config {
        command = "/usr/bin/redis-server"
        args    = ["--port", "${NOMAD_PORT_redis}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
      }
      resources {
        cpu    = 300
        memory = 128
      }
    }

    task "load" {
      driver = "raw_exec"
      config {
        command = "${var.bin}/workload"
        args = ["load", "-wait", "10s", "-protocol", "redis", "-rate", "[[ .Amount ]]", "-connections", "16", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}",
        "127.0.0.1:${NOMAD_PORT_redis}"]
      }
      resources {
        cpu    = 200
        memory = 64
      }
    }
  }
}

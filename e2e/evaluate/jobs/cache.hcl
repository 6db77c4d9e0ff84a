# redis under its own open-loop load, so that a slow server shows as latency and
# not as less load.
job "cache" {
  type = "service"
  [[ .Where ]]

  group "main" {
    count = [[ .Count ]]
    [[ .Performance ]]

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
      [[ .Run "redis" ]]
    }

    task "load" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/workload"
        args = ["load", "-wait", "10s", "-protocol", "redis", "-rate", "[[ .Rate ]]", "-connections", "8", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}",
        "127.0.0.1:${NOMAD_PORT_redis}"]
      }
      [[ .Run "load" ]]
    }
  }
}

job "cache" {
  # comment before
  group "cache" {
    count = 1

    performance { # the one block
      target {
        qps = 20000
      }
      probe "prometheus" {
        port = "metrics"
        rate = "r"
      }
    } # after

    task "memcached" {
      driver = "docker"
    }
  }
}

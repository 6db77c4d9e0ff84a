job "cache" {
  group "cache" {
    meta {
      performance = <<EOT
        target { qps = 20000 }
      EOT
    }
    task "t" { driver = "raw_exec" }
  }
}

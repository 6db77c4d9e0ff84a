variable "image" { default = "x" }

job "web" {
  group "a" {
    performance {
      target { best_effort = true }
    }
    task "t" {
      driver = "raw_exec"
      template {
        data = <<EOT
performance { not a block, "text" }
${var.image}
EOT
      }
    }
  }
  group "b" {
    task "t" { driver = "raw_exec" }
  }
  group c {
    performance { policy = "random" }
    task "t" { driver = "raw_exec" }
  }
}

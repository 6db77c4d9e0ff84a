job "x" {
  group "g" {
    performance {
      target { rate = 5 }
      probe "exec" {
        command = ["sh", "-c", <<EOT
cat /local/{a,b}
EOT
        ]
      }
    }
    task "t" { driver = "exec" }
  }
}

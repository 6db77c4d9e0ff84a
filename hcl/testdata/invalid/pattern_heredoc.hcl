target { rate = 5 }
probe "log" {
  pattern = <<EOT
n=([0-9]+)
EOT
}

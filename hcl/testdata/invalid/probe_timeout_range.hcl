target { rate = 5 }

probe "log" {
  pattern = "([0-9]+)"
  timeout = "10m"
}

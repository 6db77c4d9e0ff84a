target { rate = 5 }

probe "log" {
  pattern = "([0-9]+)"
  work    = 10
}

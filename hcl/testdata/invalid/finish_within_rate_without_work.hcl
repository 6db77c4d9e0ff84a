target { finish_within = "10m" }
probe "exec" {
  command = ["progress"]
  mode    = "rate"
}

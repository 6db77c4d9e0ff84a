target { finish_within = "90s" }
probe "exec" {
  command = ["/bin/sh", "-c", "cat /local/rate"]
  mode    = "rate"
  work    = 1200
}

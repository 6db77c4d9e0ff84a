target { finish_within = "1h30m" }
probe "log" {
  pattern = "rows=([0-9]+)"
  stream  = "stderr"
  task    = "loader"
  work    = 5e6
}

target {
  rate = 120
  unit = "frames"
}
probe "log" {
  pattern = "frame= *([0-9]+)"
  timeout = "500ms"
}

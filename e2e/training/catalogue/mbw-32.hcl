application "mbw-32" {
  about     = "copies of 32 MiB"
  packages  = ["mbw"]
  stresses  = ["memory bandwidth"]
  loop      = ["-lines"]
  unit      = "copies"
  memory_mb = 200
  run       = "exec stdbuf -oL mbw -a -q -n 100000000 -t 0 32"
}

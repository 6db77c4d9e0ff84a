application "mbw-4" {
  about     = "copies of 4 MiB"
  packages  = ["mbw"]
  stresses  = ["llc"]
  loop      = ["-lines"]
  unit      = "copies"
  memory_mb = 100
  tier      = 2
  run       = "exec stdbuf -oL mbw -a -q -n 100000000 -t 0 4"
}

application "bc-pi" {
  about     = "decimals of pi"
  packages  = ["bc"]
  stresses  = ["integer"]
  loop      = ["-lines"]
  unit      = "evaluations"
  memory_mb = 128
  run = <<-EOT
    echo 'scale=120; while (1) { x = 4*a(1/3); print "\n" }' > pi.bc
    exec stdbuf -oL bc -lq pi.bc < /dev/null
  EOT
}

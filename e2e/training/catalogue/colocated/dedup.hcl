application "dedup" {
  about     = "zstd with a long window: redundancy of a stream removed, and what is left compressed into a file (their dedup)"
  packages  = ["zstd"]
  stresses  = ["disk", "cpu"]
  inputs    = ["stream"]
  data      = "cp -r \"$INPUT/stream/.\" ."
  loop      = ["-io", "read-bytes"]
  unit      = "MB of the stream"
  memory_mb = 256
  disk      = true
  run       = "for part in part*; do zstd -q -f -3 --long=25 --single-thread -o packed \"$part\" && sync packed && dd if=\"$part\" iflag=nocache count=0 status=none || exit 1; done"
}

application "video" {
  about     = "x264: raw frames encoded into a file (their video)"
  packages  = ["x264"]
  stresses  = ["disk", "cpu"]
  inputs    = ["frames"]
  data      = "cp \"$INPUT/frames\" ."
  loop      = ["-io", "read-bytes"]
  unit      = "MB of frames, read and handed on"
  memory_mb = 256
  disk      = true
  run       = "cat frames | x264 --quiet --preset ultrafast --threads 1 --demuxer y4m --muxer raw -o encoded - && sync encoded && dd if=frames iflag=nocache count=0 status=none"
}

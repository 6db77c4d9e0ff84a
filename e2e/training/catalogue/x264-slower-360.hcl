application "x264-slower-360" {
  about     = "video encoding, 640x360, thorough"
  packages  = ["x264"]
  stresses  = ["cpu", "l2"]
  inputs    = ["video360"]
  loop      = ["-feed", "$INPUT/video360", "-chunk", "65536", "-head", "39"]
  unit      = "MB of video"
  memory_mb = 500
  threads   = 2
  run       = "exec x264 --quiet --preset slower --threads \"$CORES\" --sync-lookahead 0 --rc-lookahead 5 --demuxer y4m --muxer raw -o /dev/null -"
}

application "x264-medium-360" {
  about     = "video encoding, 640x360"
  packages  = ["x264"]
  stresses  = ["vector", "l2"]
  inputs    = ["video360"]
  loop      = ["-feed", "$INPUT/video360", "-chunk", "65536", "-head", "39"]
  unit      = "MB of video"
  memory_mb = 300
  threads   = 2
  run       = "exec x264 --quiet --preset medium --threads \"$CORES\" --sync-lookahead 0 --rc-lookahead 10 --demuxer y4m --muxer raw -o /dev/null -"
}

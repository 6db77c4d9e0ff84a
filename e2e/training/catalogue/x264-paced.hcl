application "x264-paced" {
  about     = "video encoding as fast as the camera is"
  packages  = ["x264"]
  stresses  = ["vector", "l2"]
  inputs    = ["video360"]
  loop      = ["-feed", "$INPUT/video360", "-chunk", "65536", "-head", "39", "-pause", "4ms"]
  unit      = "MB of video"
  memory_mb = 300
  run       = "exec x264 --quiet --preset fast --threads 1 --sync-lookahead 0 --rc-lookahead 5 --demuxer y4m --muxer raw -o /dev/null -"
}

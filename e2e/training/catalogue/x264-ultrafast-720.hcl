application "x264-ultrafast-720" {
  about     = "video encoding, 1280x720, fast"
  packages  = ["x264"]
  stresses  = ["memory bandwidth", "vector"]
  inputs    = ["video720"]
  loop      = ["-feed", "$INPUT/video720", "-chunk", "131072", "-head", "40"]
  unit      = "MB of video"
  memory_mb = 400
  threads   = 2
  tier      = 2
  run       = "exec x264 --quiet --preset ultrafast --threads \"$CORES\" --demuxer y4m --muxer raw -o /dev/null -"
}

application "flac-paced" {
  about     = "lossless audio of a few live sources"
  packages  = ["flac"]
  stresses  = ["cpu", "vector"]
  inputs    = ["audio"]
  loop      = ["-feed", "$INPUT/audio", "-chunk", "16384", "-pause", "3ms"]
  unit      = "MB of audio"
  memory_mb = 128
  run       = "exec flac -s -5 --endian=little --sign=signed --channels=2 --bps=16 --sample-rate=44100 --force-raw-format -c -"
}

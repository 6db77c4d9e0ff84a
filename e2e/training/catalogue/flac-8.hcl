application "flac-8" {
  about     = "lossless audio"
  packages  = ["flac"]
  stresses  = ["cpu", "vector"]
  inputs    = ["audio"]
  loop      = ["-feed", "$INPUT/audio", "-chunk", "16384"]
  unit      = "MB of audio"
  memory_mb = 128
  run       = "exec flac -s -8 --endian=little --sign=signed --channels=2 --bps=16 --sample-rate=44100 --force-raw-format -c -"
}

application "lame-v2" {
  about     = "MP3 encoding"
  packages  = ["lame"]
  stresses  = ["floating point"]
  inputs    = ["audio"]
  loop      = ["-feed", "$INPUT/audio", "-chunk", "4608"]
  unit      = "MB of audio"
  memory_mb = 128
  run       = "exec lame --quiet -r -s 44.1 -V2 - /dev/null"
}

application "perl-words" {
  about     = "counts of words"
  packages  = ["perl"]
  stresses  = ["interpreter", "l2"]
  inputs    = ["text"]
  loop      = ["-feed", "$INPUT/text", "-chunk", "32768"]
  unit      = "MB of input"
  memory_mb = 128
  run       = "exec perl -ne '$n{$1}++ while /(\\w+)/g; END { print scalar keys %n }'"
}

application "py-regex" {
  about     = "regular expressions over text"
  packages  = ["python3"]
  stresses  = ["interpreter", "branch prediction"]
  inputs    = ["text"]
  loop      = ["-lines"]
  unit      = "64 kB"
  memory_mb = 128
  run = <<-EOT
    exec /usr/bin/python3 -c '
    import os, re
    text = open(os.environ["INPUT"] + "/text", "rb").read(8 << 20)
    pattern = re.compile(rb"(\w+)[ (]+(\w+)(?:, (\w+))?\)")
    k = 0
    while True:
        sum(1 for m in pattern.finditer(text, k, k + (1 << 16)))
        k = (k + (1 << 16)) % (8 << 20)
        os.write(1, b"\n")'
  EOT
}

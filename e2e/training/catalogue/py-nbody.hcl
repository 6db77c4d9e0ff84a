application "py-nbody" {
  about     = "floating point in an interpreter"
  packages  = ["python3"]
  stresses  = ["interpreter", "l1"]
  loop      = ["-lines"]
  unit      = "2,000 steps"
  memory_mb = 128
  tier      = 2
  run = <<-EOT
    exec /usr/bin/python3 -c '
    import os
    x, y, u, v = 1.0, 0.0, 0.0, 1.0
    while True:
        for i in range(2000):
            r = (x * x + y * y) ** 1.5
            u -= 0.001 * x / r
            v -= 0.001 * y / r
            x += 0.001 * u
            y += 0.001 * v
        os.write(1, b"\n")'
  EOT
}

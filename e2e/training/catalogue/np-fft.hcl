application "np-fft" {
  about     = "Fourier transforms of 262,144 points"
  packages  = ["python3-numpy", "libopenblas0-pthread"]
  stresses  = ["floating point", "llc"]
  loop      = ["-lines"]
  unit      = "transforms"
  memory_mb = 200
  tier      = 2
  run = <<-EOT
    export OPENBLAS_NUM_THREADS="$CORES"
    exec /usr/bin/python3 -c '
    import numpy as np, os
    random = np.random.default_rng(7)
    a = random.random(1 << 18)
    k = 0
    while True:
        np.fft.rfft(a)
        k += 1
        os.write(1, b"\n")'
  EOT
}

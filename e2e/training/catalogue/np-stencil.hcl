application "np-stencil" {
  about     = "five-point stencil over a grid"
  packages  = ["python3-numpy", "libopenblas0-pthread"]
  stresses  = ["memory bandwidth", "prefetcher"]
  loop      = ["-lines"]
  unit      = "slabs of 256 rows"
  memory_mb = 400
  run = <<-EOT
    export OPENBLAS_NUM_THREADS="$CORES"
    exec /usr/bin/python3 -c '
    import numpy as np, os
    random = np.random.default_rng(7)
    a = random.random((4096, 2048))
    b = np.zeros_like(a)
    k = 0
    while True:
        r = 1 + k * 256 % 3584
        b[r:r + 256, 1:-1] = 0.25 * (a[r - 1:r + 255, 1:-1] + a[r + 1:r + 257, 1:-1] + a[r:r + 256, :-2] + a[r:r + 256, 2:])
        k += 1
        os.write(1, b"\n")'
  EOT
}

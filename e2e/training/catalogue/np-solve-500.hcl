application "np-solve-500" {
  about     = "linear equations, 500x500"
  packages  = ["python3-numpy", "libopenblas0-pthread"]
  stresses  = ["floating point", "llc"]
  loop      = ["-lines"]
  unit      = "solutions"
  memory_mb = 200
  threads   = 2
  tier      = 2
  run = <<-EOT
    export OPENBLAS_NUM_THREADS="$CORES"
    exec /usr/bin/python3 -c '
    import numpy as np, os
    random = np.random.default_rng(7)
    a, b = random.random((500, 500)), random.random(500)
    k = 0
    while True:
        np.linalg.solve(a, b)
        k += 1
        os.write(1, b"\n")'
  EOT
}

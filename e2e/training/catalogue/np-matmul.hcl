application "np-matmul" {
  about     = "products of matrices, 768x768"
  packages  = ["python3-numpy", "libopenblas0-pthread"]
  stresses  = ["floating point", "l2"]
  loop      = ["-lines"]
  unit      = "products"
  memory_mb = 300
  threads   = 2
  run = <<-EOT
    export OPENBLAS_NUM_THREADS="$CORES"
    exec /usr/bin/python3 -c '
    import numpy as np, os
    random = np.random.default_rng(7)
    a, b = random.random((768, 768)), random.random((768, 768))
    c = np.empty_like(a)
    k = 0
    while True:
        np.matmul(a, b, out=c)
        k += 1
        os.write(1, b"\n")'
  EOT
}

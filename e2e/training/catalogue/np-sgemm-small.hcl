application "np-sgemm-small" {
  about     = "products of small matrices in single precision, 128x128"
  packages  = ["python3-numpy", "libopenblas0-pthread"]
  stresses  = ["vector", "l1"]
  loop      = ["-lines"]
  unit      = "8 products"
  memory_mb = 200
  tier      = 2
  run = <<-EOT
    export OPENBLAS_NUM_THREADS="$CORES"
    exec /usr/bin/python3 -c '
    import numpy as np, os
    random = np.random.default_rng(7)
    a, b = random.random((128, 128)).astype(np.float32), random.random((128, 128)).astype(np.float32)
    c = np.empty_like(a)
    k = 0
    while True:
        for i in range(8): np.matmul(a, b, out=c)
        k += 1
        os.write(1, b"\n")'
  EOT
}

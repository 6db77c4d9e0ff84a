application "np-svd-200" {
  about     = "singular values, 200x200"
  packages  = ["python3-numpy", "libopenblas0-pthread"]
  stresses  = ["floating point", "l2"]
  loop      = ["-lines"]
  unit      = "decompositions"
  memory_mb = 200
  threads   = 2
  run = <<-EOT
    export OPENBLAS_NUM_THREADS="$CORES"
    exec /usr/bin/python3 -c '
    import numpy as np, os
    random = np.random.default_rng(7)
    a = random.random((200, 200))
    k = 0
    while True:
        np.linalg.svd(a)
        k += 1
        os.write(1, b"\n")'
  EOT
}

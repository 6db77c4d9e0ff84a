application "np-sort" {
  about     = "sorting of doubles"
  packages  = ["python3-numpy", "libopenblas0-pthread"]
  stresses  = ["llc", "branch prediction"]
  loop      = ["-lines"]
  unit      = "slices of 100,000"
  memory_mb = 300
  run = <<-EOT
    export OPENBLAS_NUM_THREADS="$CORES"
    exec /usr/bin/python3 -c '
    import numpy as np, os
    random = np.random.default_rng(7)
    a = random.random(8000000)
    k = 0
    while True:
        s = k * 100000 % 8000000
        np.sort(a[s:s + 100000])
        k += 1
        os.write(1, b"\n")'
  EOT
}

application "np-triad" {
  about           = "sum of two vectors"
  packages        = ["python3-numpy", "libopenblas0-pthread"]
  stresses        = ["memory bandwidth"]
  loop            = ["-lines"]
  unit            = "slices of 4 MB"
  memory_mb       = 600
  memory_sizes_mb = [12, 48, 480]
  run = <<-EOT
    export OPENBLAS_NUM_THREADS="$CORES"
    exec /usr/bin/python3 -c '
    import numpy as np, os
    random = np.random.default_rng(7)
    n = int(os.environ["MEMORY_MB"]) * 1000000 // 24
    a, b, c = random.random(n), random.random(n), np.zeros(n)
    step = 1 << 19
    k = 0
    while True:
        s = slice(k * step % (n - step), k * step % (n - step) + step)
        np.add(a[s], b[s], out=c[s])
        k += 1
        os.write(1, b"\n")'
  EOT
}

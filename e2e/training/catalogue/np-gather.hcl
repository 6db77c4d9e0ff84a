application "np-gather" {
  about           = "random reads of a table"
  packages        = ["python3-numpy", "libopenblas0-pthread"]
  stresses        = ["memory latency", "tlb"]
  loop            = ["-lines"]
  unit            = "100,000 reads"
  memory_mb       = 400
  memory_sizes_mb = [8, 32, 128, 256]
  run = <<-EOT
    export OPENBLAS_NUM_THREADS="$CORES"
    exec /usr/bin/python3 -c '
    import numpy as np, os
    random = np.random.default_rng(7)
    n = int(os.environ["MEMORY_MB"]) * 1000000 // 8
    table = random.random(n)
    index = [random.integers(0, n, 100000) for i in range(8)]
    out = np.empty(100000)
    k = 0
    while True:
        np.take(table, index[k % 8], out=out, mode="clip")
        k += 1
        os.write(1, b"\n")'
  EOT
}

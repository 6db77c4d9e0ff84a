application "py-dict" {
  about           = "look-ups in a large dictionary"
  packages        = ["python3"]
  stresses        = ["memory latency", "tlb"]
  loop            = ["-lines"]
  unit            = "10,000 look-ups"
  memory_mb       = 500
  memory_sizes_mb = [4, 32, 200]
  tier            = 2
  run = <<-EOT
    exec /usr/bin/python3 -c '
    import os, random
    random.seed(7)
    n = int(os.environ["MEMORY_MB"]) * 6000
    table = {i * 7919 % 1000000007: i for i in range(n)}
    keys = list(table)
    random.shuffle(keys)
    k = 0
    while True:
        sum(map(table.__getitem__, keys[k:k + 10000]))
        k = (k + 10000) % (n - 10000)
        os.write(1, b"\n")'
  EOT
}

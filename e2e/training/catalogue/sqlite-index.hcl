application "sqlite-index" {
  about           = "look-ups in an index; the page cache is the size that is varied"
  packages        = ["sqlite3", "python3"]
  stresses        = ["memory latency", "page cache"]
  inputs          = ["table.db"]
  loop            = ["-lines"]
  unit            = "200 look-ups"
  memory_mb       = 256
  memory_sizes_mb = [4, 32, 128]
  tier            = 2
  run = <<-EOT
    exec /usr/bin/python3 -c '
    import os, random, sqlite3, sys
    random.seed(7)
    db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
    db.execute("pragma cache_size = -%d" % (int(os.environ["MEMORY_MB"]) * 1024))
    rows = db.execute("select max(id) from t").fetchone()[0]
    while True:
        for i in range(200):
            db.execute("select c from t where a = ?", (random.randrange(1000003),)).fetchall()
        print(flush=True)' "$INPUT/table.db"
  EOT
}

application "sqlite-load" {
  about     = "insertion into an indexed table"
  packages  = ["sqlite3", "python3"]
  stresses  = ["cpu", "page cache", "disk"]
  loop      = ["-lines"]
  unit      = "500 rows"
  memory_mb = 200
  disk      = true
  run = <<-EOT
    exec /usr/bin/python3 -c '
    import random, sqlite3
    random.seed(7)
    db = sqlite3.connect("load.db", isolation_level=None)
    db.executescript("pragma journal_mode = wal; pragma synchronous = off; create table t(id integer primary key, a int, b real, c text); create index i on t(a)")
    k = 0
    while True:
        db.execute("begin")
        db.executemany("replace into t values(?, ?, ?, ?)", [((k + i) % 200000, random.randrange(1000003), random.random(), "row %d" % i) for i in range(500)])
        db.execute("commit")
        k += 500
        print(flush=True)'
  EOT
}

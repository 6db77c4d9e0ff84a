application "sqlite-fsync" {
  about     = "commits of single rows"
  packages  = ["sqlite3", "python3"]
  stresses  = ["disk latency"]
  loop      = ["-lines"]
  unit      = "commits"
  memory_mb = 128
  disk      = true
  run = <<-EOT
    exec /usr/bin/python3 -c '
    import sqlite3
    db = sqlite3.connect("commits.db", isolation_level=None)
    db.execute("create table t(id integer primary key, a text)")
    k = 0
    while True:
        db.execute("replace into t values(?, ?)", (k % 1000, "row %d" % k))
        k += 1
        print(flush=True)'
  EOT
}

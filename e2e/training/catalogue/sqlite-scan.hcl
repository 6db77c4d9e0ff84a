application "sqlite-scan" {
  about     = "aggregation over a table in memory"
  packages  = ["sqlite3", "python3"]
  stresses  = ["cpu", "memory bandwidth"]
  inputs    = ["table.db"]
  loop      = ["-lines"]
  unit      = "20,000 rows"
  memory_mb = 300
  run = <<-EOT
    exec /usr/bin/python3 -c '
    import sqlite3, sys
    source, db = sqlite3.connect(sys.argv[1]), sqlite3.connect(":memory:")
    source.backup(db)
    rows, k = db.execute("select max(id) from t").fetchone()[0], 0
    while True:
        db.execute("select sum(a * b), max(c) from t where id between ? and ?", (k, k + 20000)).fetchone()
        k = (k + 20000) % rows
        print(flush=True)' "$INPUT/table.db"
  EOT
}

application "py-json" {
  about     = "dump and load of records"
  packages  = ["python3"]
  stresses  = ["interpreter", "memory allocation"]
  loop      = ["-lines"]
  unit      = "200 records"
  memory_mb = 256
  run = <<-EOT
    exec /usr/bin/python3 -c '
    import json, os, random
    random.seed(7)
    records = [{"id": i, "name": "record %d" % i, "values": [random.random() for j in range(8)], "tags": {"a": i % 7, "b": str(i)}} for i in range(60000)]
    k = 0
    while True:
        json.loads(json.dumps(records[k:k + 200]))
        k = (k + 200) % 60000
        os.write(1, b"\n")'
  EOT
}

application "node-json" {
  about     = "JSON in compiled JavaScript"
  packages  = ["nodejs"]
  stresses  = ["instruction cache", "memory allocation"]
  loop      = ["-lines"]
  unit      = "300 records"
  memory_mb = 300
  tier      = 2
  run = <<-EOT
    exec node -e '
    const fs = require("fs"), records = [];
    for (let i = 0; i < 300; i++) records.push({ id: i, name: "record " + i, values: [i / 3, i / 7, i / 11], tags: { a: i % 7, b: "" + i } });
    for (;;) { for (let j = 0; j < 5; j++) JSON.parse(JSON.stringify(records)); fs.writeSync(1, "\n"); }'
  EOT
}

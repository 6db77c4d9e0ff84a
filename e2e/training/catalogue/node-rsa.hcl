application "node-rsa" {
  about     = "RSA-2048 signatures of libcrypto"
  packages  = ["nodejs"]
  stresses  = ["integer"]
  inputs    = ["rsa"]
  loop      = ["-lines"]
  unit      = "5 signatures"
  memory_mb = 200
  tier      = 2
  run = <<-EOT
    exec node -e '
    const crypto = require("crypto"), fs = require("fs");
    const key = crypto.createPrivateKey(fs.readFileSync(process.env.INPUT + "/rsa")), text = Buffer.alloc(64, 7);
    for (;;) { for (let i = 0; i < 5; i++) crypto.sign("sha256", text, key); fs.writeSync(1, "\n"); }'
  EOT
}

application "email" {
  about     = "postmark: files of messages are created, read, appended to and removed (their email)"
  packages  = ["postmark"]
  stresses  = ["disk operations"]
  loop      = ["-io", "calls"]
  unit      = "reads and writes"
  memory_mb = 256
  disk      = true
  warm_seconds = 15
  data      = "printf 'set location mail\\nset subdirectories 200\\nset number 40000\\nset size 500 25000\\nset transactions 100000000\\nset seed 7\\nset buffering false\\nrun\\nquit\\n' > settings"
  run       = "rm -rf mail; mkdir mail; exec postmark settings"
}

application "sysbench-cpu" {
  about     = "prime numbers"
  packages  = ["sysbench"]
  stresses  = ["cpu"]
  unit      = "30 events"
  memory_mb = 128
  run       = "exec sysbench cpu --cpu-max-prime=10000 --events=30 --time=0 run > /dev/null"
}

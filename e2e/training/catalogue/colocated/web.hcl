application "web" {
  about        = "fio: threads that read small files, and one that writes a log, a tenth as often (their web)"
  packages     = ["fio"]
  stresses     = ["disk operations"]
  loop         = ["-io", "calls"]
  unit         = "reads and writes"
  memory_mb    = 256
  disk         = true
  warm_seconds = 8
  data         = "mkdir files && printf '[global]\\ndirectory=files\\nthread\\nioengine=psync\\nbs=16k\\ntime_based\\nruntime=7d\\nrandseed=7\\ndisk_util=0\\ngtod_reduce=1\\nfallocate=none\\n[pages]\\nnumjobs=16\\nnrfiles=1900\\nfilesize=8k-32k\\nfile_service_type=random:1\\nopenfiles=32\\nrw=randread\\n[log]\\nrw=write\\nsize=64m\\nrate_iops=12\\n' > web.fio && sed 's/^time_based/create_only=1/; s/^runtime.*//' web.fio > create.fio && fio --output=/dev/null create.fio"
  run          = "exec fio --output=/dev/null web.fio"
}

application "web" {
  about        = "fio: threads that read small files, and one that writes a log, a tenth as often (their web)"
  packages     = ["fio"]
  stresses     = ["disk operations"]
  loop         = ["-io", "calls"]
  unit         = "reads and writes"
  memory_mb    = 256
  disk         = true
  warm_seconds = 8
  data         = "mkdir files && for job in $(seq 0 15); do fio --output=/dev/null --name=pages --directory=files --filename_format=\"pages.$job.\\$filenum\" --create_only=1 --rw=randread --bs=16k --filesize=16k --nrfiles=1900 --fallocate=none; done && printf '[global]\\ndirectory=files\\nthread\\nioengine=psync\\nbs=16k\\ntime_based\\nruntime=7d\\nrandseed=7\\ndisk_util=0\\ngtod_reduce=1\\nfallocate=none\\n[pages]\\nnumjobs=16\\nnrfiles=1900\\nfilesize=16k\\nfile_service_type=random:1\\nopenfiles=32\\nrw=randread\\n[log]\\nrw=write\\nsize=64m\\nrate_iops=12\\n' > web.fio"
  run          = "exec fio --output=/dev/null web.fio"
}

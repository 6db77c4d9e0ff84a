application "web" {
  about     = "fio: threads that read small files, with one write for ten reads (their web)"
  packages  = ["fio"]
  stresses  = ["disk operations"]
  loop      = ["-io", "calls"]
  unit      = "reads and writes"
  memory_mb = 256
  disk      = true
  data      = "mkdir files && printf '[global]\\ndirectory=files\\nthread\\nioengine=psync\\nnrfiles=1250\\nfilesize=8k-32k\\nfile_service_type=random:1\\nopenfiles=32\\nrw=randrw\\nrwmixread=91\\nbs=16k\\nbs_unaligned\\ntime_based\\nruntime=7d\\nrandseed=7\\ndisk_util=0\\ngtod_reduce=1\\nfallocate=none\\n[web]\\nnumjobs=16\\n' > web.fio && sed 's/^time_based/create_only=1/; s/^runtime.*//; s/^rw=.*/rw=randread/' web.fio > create.fio && fio --output=/dev/null create.fio"
  run       = "exec fio --output=/dev/null web.fio"
}

application "pg-tpcb" {
  about     = "transactions of a bank"
  packages  = ["postgresql", "postgresql-contrib"]
  stresses  = ["disk latency", "locks"]
  inputs    = ["postgres"]
  loop      = ["-lines"]
  unit      = "transactions"
  memory_mb = 500
  threads   = 2
  disk      = true
  run = <<-EOT
    cp -a "$INPUT/postgres/data" data && chmod 700 data && mkfifo log.$$ && chown postgres . log.$$
    bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
    $as $bin/postgres -D data -p "$APP_PORT" -k "$PWD" -c listen_addresses= -c shared_buffers="$${MEMORY_MB}MB" -c autovacuum=off -c max_wal_size=4GB  > data/log 2>&1 &
    for try in $(seq 100); do $bin/pg_isready -q -h "$PWD" -p "$APP_PORT" && break; sleep 0.1; done
    cat log.$$ &
    exec $as $bin/pgbench -h "$PWD" -p "$APP_PORT" -n -b tpcb-like -c 4 -j 1 -T 1000000 --random-seed=7 -l --log-prefix=log postgres > /dev/null
  EOT
}

#!/bin/sh
# Walks the kernel of memory-knee.nomad.hcl through its levels and prints what it
# reached at each: the knee is where "achieved" no longer follows "asked", or
# where "speed" falls, because the memory is shared with another workload.
#
#   ./knee.sh ALLOC
#   STEP=20 DWELL=1 ./knee.sh ALLOC
set -eu
alloc=${1:?usage: knee.sh ALLOC}
step=${STEP:-10}
dwell=${DWELL:-3}

kernel() { nomad alloc exec -i=false -t=false -task noise "$alloc" "$@"; }

printf '%8s %12s %16s\n' asked achieved 'speed bytes/s'
level=0
while [ "$level" -le 100 ]; do
  kernel set "$level" > /dev/null
  kernel stats > /dev/null # the time that is measured begins here
  sleep "$dwell"
  kernel stats | awk -v asked="$level" '
    { achieved = speed = "-" }
    match($0, /achieved [0-9.]+ %/) { achieved = substr($0, RSTART + 9, RLENGTH - 9) }
    match($0, /speed [0-9.e+]+ /) { speed = substr($0, RSTART + 6, RLENGTH - 7) }
    { printf "%6s %% %12s %16s\n", asked, achieved, speed }'
  level=$((level + step))
done
kernel set 0 > /dev/null

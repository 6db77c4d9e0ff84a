base  = "tracon-dynamic-light.hcl"
title = "TRACON: 64 machines, tasks keep coming, heavy on the disk"

colocation {
  mix = "heavy"
}

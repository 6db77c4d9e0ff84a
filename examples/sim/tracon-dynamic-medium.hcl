base  = "tracon-dynamic-light.hcl"
title = "TRACON: 64 machines, tasks keep coming, medium on the disk"
loads = [10, 20, 30, 60]

colocation {
  mix = "medium"
}

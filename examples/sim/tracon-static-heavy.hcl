base  = "tracon-static-light.hcl"
title = "TRACON: 64 machines of two slots, all tasks at once, heavy on the disk"

colocation {
  mix = "heavy"
}

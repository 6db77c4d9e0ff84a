base  = "tracon-static-light.hcl"
title = "TRACON: 64 machines of two slots, all tasks at once, medium on the disk"

colocation {
  mix = "medium"
}

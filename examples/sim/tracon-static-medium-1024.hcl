base  = "tracon-static-light-1024.hcl"
title = "TRACON: 1024 machines of two slots, all tasks at once, medium on the disk"

colocation {
  mix = "medium"
}

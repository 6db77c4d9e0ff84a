base  = "tracon-machines-64.hcl"
title = "TRACON: 8 machines, 1,000 tasks a minute"

colocation {
  machines = 8
}

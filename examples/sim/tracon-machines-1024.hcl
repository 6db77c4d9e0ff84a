base  = "tracon-machines-64.hcl"
title = "TRACON: 1024 machines, 1,000 tasks a minute"

colocation {
  machines = 1024
}

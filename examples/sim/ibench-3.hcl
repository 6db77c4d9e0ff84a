base   = "ibench-filler.base.hcl"
title  = "iBench: memcached on 40 nodes, filled up with best-effort work"
source = "Delimitrou 2015, §5.5.1, scenario 3"
notes = [
  "eight services that live for 40 minutes under a load that swings by a fifth, and best-effort jobs of 3 to 10 minutes, 6 s apart, are ours",
  "performance of memcached is the share of its load that was served, of best-effort work that of the ideal",
]

population "primary" {
  classes     = ["memcached"]
  load_swing  = 0.2
  load_period = "20m"

  duration "fixed" {
    value = "40m"
  }
}

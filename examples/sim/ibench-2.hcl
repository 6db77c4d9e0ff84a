base   = "ibench-filler.base.hcl"
title  = "iBench: Hadoop on 40 nodes, filled up with best-effort work"
source = "Delimitrou 2015, §5.5.1, scenario 2"
notes = [
  "eight Hadoop jobs of 20 to 40 minutes, and best-effort jobs of 3 to 10 minutes, 6 s apart, are ours",
  "performance of Hadoop is the share of its target, of best-effort work that of the ideal",
]

population "primary" {
  classes = ["hadoop"]

  duration "loguniform" {
    low  = "20m"
    high = "40m"
  }
}

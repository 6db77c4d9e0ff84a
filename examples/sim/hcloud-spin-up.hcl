base   = "hcloud-high.hcl"
title  = "HCloud: the time that nodes take to start"
source = "Delimitrou 2015, §8.5.1"
notes = [
  "loads are mean seconds of the largest type; all types and the slow starts go with it; the values are ours, the text's are lost with a figure",
]
loads    = [0, 15, 30, 60, 120]
policies = ["SR", "OdF", "OdM", "HF", "HM"]

provision {
  sweep = "spin_up"
}

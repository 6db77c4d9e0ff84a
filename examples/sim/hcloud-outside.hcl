base   = "hcloud-high.hcl"
title  = "HCloud: the load of other customers"
source = "Delimitrou 2015, §8.5.1"
notes = [
  "loads are the mean share of their cores that other customers keep busy; the values are ours, the text's are lost with a figure",
]
loads    = [0, 0.25, 0.5, 0.75, 1]
policies = ["SR", "OdF", "OdM", "HF", "HM"]

provision {
  sweep = "outside"
}

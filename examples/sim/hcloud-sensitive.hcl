base   = "hcloud-high.hcl"
title  = "HCloud: the share of jobs that are sensitive"
source = "Delimitrou 2015, §8.5.6"
notes = [
  "loads are the share of jobs whose programs demand more than 80 of a resource, the threshold of P2; the values are ours, the text's are lost with a figure",
]
loads    = [0, 0.2, 0.4, 0.6, 0.8, 1]
policies = ["SR", "OdF", "OdM", "HF", "HM"]

provision {
  sweep = "sensitive"
}

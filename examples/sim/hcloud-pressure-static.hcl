base   = "hcloud-static.hcl"
title  = "HCloud: what jobs press on each other, a load that hardly varies"
source = "Delimitrou 2015, §8.3.2"
notes = [
  "loads are what jobs press on each other, relative to what they are drawn with; what other customers press stays. Not in the text",
  "a tenth of the cores, and of the jobs per second",
]
loads    = [0.01, 0.25, 0.5, 1]
policies = ["SR", "OdF", "OdM", "HF", "HM"]

provision {
  scale = 0.1
  sweep = "pressure"
}

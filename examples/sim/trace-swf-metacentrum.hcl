base   = "trace.base.hcl"
title  = "MetaCentrum 2013: jobs of a grid on 1,000 servers"
source = "SWF log wagap-2013 (Feitelson and others 2014)"
notes = [
  "applications with interference are drawn from the classes; the trace has none",
]
limit = "2400h"

cluster {
  shape = "paragon-ec2-1000"
}

trace "swf" {
  path      = "../../../shared/data/hpc-swf"
  files     = ["metacentrum_wagap_2013_first.csv.gz"]
  limit     = 1500
  classes   = ["ST", "MT", "MP", "IO"]
  platforms = "published"
}

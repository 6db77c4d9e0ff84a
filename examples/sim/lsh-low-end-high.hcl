base  = "lsh-default-high.hcl"
title = "LSH on 50 servers, low-end data centre, high load"

cluster {
  shape = "lsh-low-end-50"
}

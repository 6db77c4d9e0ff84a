base  = "lsh-default-high.hcl"
title = "LSH on 50 servers, high-end data centre, high load"

cluster {
  shape = "lsh-high-end-50"
}

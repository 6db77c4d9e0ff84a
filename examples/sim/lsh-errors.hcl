base  = "lsh.base.hcl"
title = "LSH on 50 servers: what wrong scores cost Paragon"
notes = [
  "the scheduler sees exact scores but for one of every application; these seeds draw other applications than those of the scenarios that use what comes of it",
  "as many workloads, servers and arrivals as in lsh-default-high",
]
seeds = [101, 102, 103, 104]

policy "paragon" { knowledge = "oracle" }
policy "lsh" {
  knowledge = "oracle"
  admission = "none"
}

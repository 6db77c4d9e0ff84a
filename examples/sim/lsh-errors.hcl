title  = "LSH on 50 servers: what wrong scores cost Paragon"
source = "Islam, Gibson and Muzahid, Fast and QoS-Aware Heterogeneous Data Center Scheduling Using Locality Sensitive Hashing, §IV"
notes = [
  "the scheduler sees exact scores but for one of every application; these seeds draw other applications than those of the scenarios that use what comes of it",
  "as many workloads, servers and arrivals as in lsh-default-high",
]
seeds   = [101, 102, 103, 104]
columns = ["mem_cap", "mem_bw", "storage_cap", "storage_bw", "net_bw", "llc_cap", "llc_bw", "tlb", "int", "fp"]

cluster {
  shape = "lsh-default-50"
}

population "lsh" {
  classes      = ["ST", "MT", "MP", "IO"]
  weights      = [55, 25, 100, 18]
  applications = 198
  jobs         = 198

  arrivals "constant" {
    every = "500ms"
  }

  duration "loguniform" {
    low  = "1m"
    high = "4m"
  }
}

policy "paragon" { knowledge = "oracle" }
policy "lsh" {
  knowledge = "oracle"
  admission = "none"
}

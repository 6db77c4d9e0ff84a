# The submissions and servers of the paper on locality-sensitive hashing, under high load.
source  = "Islam, Gibson and Muzahid, Fast and QoS-Aware Heterogeneous Data Center Scheduling Using Locality Sensitive Hashing, §IV"
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

base   = "hcloud.base.hcl"
title  = "HCloud: a load that varies much"
source = "Delimitrou 2015, §8.2.1, table 8.2"
notes = [
  "210 cores, and two peaks of 1,226 at 32 and 60 minutes that rise for 6 and fall for 12 minutes (chosen by us: the text has the times, and short); nothing at the start and at the end",
  "jobs take 8.1 minutes on average, lognormal with a deviation of 0.8 (chosen by us)",
  "one job per second; its size brings the cores that are needed onto the curve; sizes from a quarter of a core, for with the published number and length of jobs there is half a core for each where least is needed",
  "a job is one allocation; programs are drawn as Hadoop and memcached, and users ask for too much or too little as published (§4.1)",
  "spin-up is a mixture, for no lognormal distribution has the published median and 95th percentile; the load of others has a correlation time of five minutes (chosen by us)",
  "a job that falls short gets more CPU where it is, up to twice what it needs in isolation, if its node has room (§8.3.3; how much is chosen by us); it is not moved",
]

provision {
  steady_cores = 210
  peak_cores   = 1226

  demand {
    for         = "115m"
    ends        = "120m"
    batch_jobs  = 4.1
    batch_cores = 1.5

    duration "lognormal" {
      median = "5m53s"
      sigma  = 0.8
      most   = "1h"
    }

    point {
      at    = "0m"
      cores = 0
    }
    point {
      at    = "2m"
      cores = 210
    }
    point {
      at    = "26m"
      cores = 210
    }
    point {
      at    = "32m"
      cores = 1226
    }
    point {
      at    = "44m"
      cores = 210
    }
    point {
      at    = "54m"
      cores = 210
    }
    point {
      at    = "60m"
      cores = 1226
    }
    point {
      at    = "72m"
      cores = 210
    }
    point {
      at    = "115m"
      cores = 210
    }
    point {
      at    = "120m"
      cores = 0
    }
  }
}

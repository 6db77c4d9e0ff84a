base   = "hcloud.base.hcl"
title  = "HCloud: a load that varies a little"
source = "Delimitrou 2015, §8.2.1, table 8.2"
notes = [
  "605 cores, and 900 from 55 to 70 minutes, linear in between; nothing at the start and at the end",
  "when and how fast the middle rises is not said; that it is mostly latency-critical is: of the 295 more cores nine tenths are services, 58 % of all then (chosen by us)",
  "jobs take from 4 to 30 minutes, log-uniform (not said for this scenario)",
  "one job per second; its size brings the cores that are needed onto the curve; sizes from a quarter of a core, for with the published number and length of jobs there is half a core for each where least is needed",
  "a job is one allocation; programs are drawn as Hadoop and memcached, and users ask for too much or too little as published (§4.1)",
  "spin-up is a mixture, for no lognormal distribution has the published median and 95th percentile; the load of others has a correlation time of five minutes (chosen by us)",
  "a job that falls short gets more CPU where it is, up to twice what it needs in isolation, if its node has room (§8.3.3; how much is chosen by us); it is not moved",
]

provision {
  steady_cores = 605
  peak_cores   = 900

  demand {
    for         = "115m"
    ends        = "120m"
    batch_jobs  = 3.6
    batch_cores = 1.4

    duration "loguniform" {
      low  = "4m"
      high = "30m"
    }

    point {
      at    = "0m"
      cores = 0
    }
    point {
      at    = "5m"
      cores = 605
    }
    point {
      at    = "45m"
      cores = 605
    }
    point {
      at       = "55m"
      cores    = 900
      services = 0.58
    }
    point {
      at       = "70m"
      cores    = 900
      services = 0.58
    }
    point {
      at    = "80m"
      cores = 605
    }
    point {
      at    = "115m"
      cores = 605
    }
    point {
      at    = "120m"
      cores = 0
    }
  }
}

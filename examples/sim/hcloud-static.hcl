base   = "hcloud.base.hcl"
title  = "HCloud: a load that hardly varies"
source = "Delimitrou 2015, §8.2.1, table 8.2"
notes = [
  "854 cores on average, 5 % more and less in turn (chosen by us: the text has 10 % between least and most); nothing at the start and at the end",
  "the base of the hybrids is what is needed at least, 811 cores, and SR is sized by the 897 needed at most",
  "jobs take from 4 to 30 minutes, log-uniform (a reading of several minutes to tens of minutes)",
  "one job per second; its size brings the cores that are needed onto the curve; sizes from a quarter of a core, for with the published number and length of jobs there is half a core for each where least is needed",
  "a job is one allocation; programs are drawn as Hadoop and memcached, and users ask for too much or too little as published (§4.1)",
  "spin-up is a mixture, for no lognormal distribution has the published median and 95th percentile; the load of others has a correlation time of five minutes (chosen by us)",
  "a job that falls short gets more CPU where it is, up to twice what it needs in isolation, if its node has room (§8.3.3; how much is chosen by us); it is not moved",
]

provision {
  steady_cores = 811
  peak_cores   = 897

  demand {
    for         = "121m"
    ends        = "126m"
    batch_jobs  = 4.2
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
      cores = 854
    }
    point {
      at    = "15m"
      cores = 897
    }
    point {
      at    = "30m"
      cores = 811
    }
    point {
      at    = "45m"
      cores = 897
    }
    point {
      at    = "60m"
      cores = 811
    }
    point {
      at    = "75m"
      cores = 897
    }
    point {
      at    = "90m"
      cores = 811
    }
    point {
      at    = "105m"
      cores = 897
    }
    point {
      at    = "121m"
      cores = 854
    }
    point {
      at    = "126m"
      cores = 0
    }
  }
}

base     = "tracon-static-light.hcl"
title    = "TRACON: 1024 machines of two slots, all tasks at once, light on the disk"
seeds    = [1, 2, 3]
policies = ["fifo", "mibs-rt", "mibs-io", "mibs-rt-oracle", "mibs-io-oracle"]

colocation {
  machines = 1024
}
policy "mibs-rt" {
  admission_options = { queue = "2048" }
}
policy "mibs-io" {
  admission_options = { objective = "iops", queue = "2048" }
}
policy "mibs-rt-oracle" {
  admission_options = { queue = "2048" }
}
policy "mibs-io-oracle" {
  admission_options = { objective = "iops", queue = "2048" }
}

# Machines of equal slots whose tasks perform as was measured of them, and policies by the length of the queue they look at.
cluster {}

colocation {
  runtime = "2m"
}

world {
  instant_decisions = true
}

policy "fifo" {
  selector = "first-fit"
}
policy "mios" {
  admission = "none"
}
policy "mibs-2" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { queue = "2" }
}
policy "mibs-4" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { queue = "4" }
}
policy "mibs-8" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { queue = "8" }
}
policy "mibs-8-io" {
  selector          = "mibs"
  admission         = "mibs"
  admission_options = { objective = "iops", queue = "8" }
}
policy "mibs-8-oracle" {
  selector          = "mibs"
  admission         = "mibs"
  knowledge         = "oracle"
  admission_options = { queue = "8" }
}
policy "mix-8" {
  selector          = "mix"
  admission         = "mix"
  admission_options = { queue = "8" }
}

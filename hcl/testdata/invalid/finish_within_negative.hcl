target { finish_within = "-10m" }
probe "completion" {}

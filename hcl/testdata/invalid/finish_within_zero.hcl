target { finish_within = "0s" }
probe "completion" {}

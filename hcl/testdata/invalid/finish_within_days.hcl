target { finish_within = "2d" }
probe "completion" {}

target { finish_within = 600 }
probe "completion" {}

target { finish_within = "5m" }

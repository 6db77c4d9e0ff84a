target { finish_within = "2m" }
probe "log" { pattern = "rows=([0-9]+)" }

target { rate = 5 }
probe "log" { pattern = "n=(\d+)" }

target { rate = -120 }
probe "log" { pattern = "([0-9]+)" }

target { rate = 5 }
probe "exec" { command = "progress --now" }

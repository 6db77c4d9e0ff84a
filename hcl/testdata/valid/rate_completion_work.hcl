target { rate = 0.5 }
probe "completion" { work = 30 }

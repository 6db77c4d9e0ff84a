target { rate = 10 }
probe "log" { pattern = "\\$\\{n=(\\d+)\\} $${x} \u00e9 \"q\"" }

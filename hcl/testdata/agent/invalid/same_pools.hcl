pools { run = "placer" }

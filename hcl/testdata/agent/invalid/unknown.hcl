polcy = "paragon"
concurrency = 2
log_level = "verbose"

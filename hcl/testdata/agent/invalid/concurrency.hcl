profile { concurrency = 0 }

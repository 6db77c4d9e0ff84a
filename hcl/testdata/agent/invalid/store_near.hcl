store "boltdb" { path = "x" }

store "consul" { path = "x" }

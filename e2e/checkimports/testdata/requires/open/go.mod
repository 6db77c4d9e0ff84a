module example.org/open

go 1.26

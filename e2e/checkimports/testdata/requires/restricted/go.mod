module example.org/restricted

go 1.26

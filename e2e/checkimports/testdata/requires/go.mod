module example.org/requires

go 1.26

require (
	example.org/open v1.0.0
	example.org/restricted v1.0.0
)

replace (
	example.org/open => ./open
	example.org/restricted => ./restricted
)

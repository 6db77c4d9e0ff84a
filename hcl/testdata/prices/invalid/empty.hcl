# Nothing is said.

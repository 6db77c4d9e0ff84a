package worker

const haveVectors = true

//go:noescape
func vectorChains(state *vectorState, rounds int)

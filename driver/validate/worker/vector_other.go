//go:build !amd64

package worker

const haveVectors = false

func vectorChains(*vectorState, int) {}

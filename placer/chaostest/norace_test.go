//go:build !race

package chaostest

const underRace = false

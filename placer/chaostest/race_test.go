//go:build race

package chaostest

// underRace: each history takes ten times as long under the race detector.
const underRace = true

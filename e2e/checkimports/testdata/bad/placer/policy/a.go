package policy

import (
	dice "math/rand/v2"
	"time"

	_ "example.org/bad/placer/clustertest"
	_ "example.org/bad/placer/sim/truth"
)

// Decide breaks every rule of purity.
func Decide() (time.Duration, int) {
	time.Sleep(time.Second)
	rng := dice.New(dice.NewPCG(1, 2)) // allowed: its own source
	return time.Since(time.Time{}), rng.IntN(6) + dice.IntN(6)
}

package main

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestUseMemory(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	t.Cleanup(func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	})
	for name, c := range map[string]struct {
		limit int64
		told  string
		want  int
	}{
		"a limit":               {1 << 40, "", garbagePercent},
		"no limit":              {math.MaxInt64, "", 100},
		"a limit, and GOGC set": {1 << 40, "100", 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOGC", c.told)
			debug.SetMemoryLimit(c.limit)
			debug.SetGCPercent(100)
			useMemory()
			if got := debug.SetGCPercent(100); got != c.want {
				t.Errorf("garbage is collected at %d %%, not at %d", got, c.want)
			}
		})
	}
}

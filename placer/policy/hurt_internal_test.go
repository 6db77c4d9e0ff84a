package policy

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

func TestNewlyHurt(t *testing.T) {
	t.Parallel()
	service := board.Resident{Tolerated: []float64{10}, Caused: []float64{20}}
	heavy := board.Resident{Tolerated: []float64{100}, Caused: []float64{95}}
	for name, c := range map[string]struct {
		residents         []board.Resident
		tolerated, caused float64
		want              int
	}{
		"an empty place":                   {nil, 10, 95, 0},
		"a resident":                       {[]board.Resident{service}, 100, 95, 1},
		"a resident and the newcomer":      {[]board.Resident{service}, 10, 95, 2},
		"nobody but who is hurt already":   {[]board.Resident{service, heavy}, 100, 95, 0},
		"the newcomer, who stands less":    {[]board.Resident{service, heavy}, 90, 95, 1},
		"nobody, as pressure saturates":    {[]board.Resident{heavy, heavy}, 100, 95, 0},
		"two, where each spares the other": {[]board.Resident{{Tolerated: []float64{30}, Caused: []float64{5}}, {Tolerated: []float64{30}, Caused: []float64{5}}}, 100, 40, 2},
	} {
		if got := Live().newlyHurt(c.residents, []float64{c.tolerated}, []float64{c.caused}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

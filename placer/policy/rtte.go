package policy

import (
	"errors"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// rtteSelector is the baseline of PP-RTTE, reconstructed: the text does not explain
// it. It is pp-rtte where no slowdown is expected.
var rtteSelector = SelectorDescriptor{
	Name:    "rtte",
	Summary: "as pp-rtte, expecting no slowdown: just what is needed to end in time",
	Paper:   "Sampaio, §VI (baseline, reconstructed)",
	Parameters: []Parameter{efficiencyParameter, {
		Name: "headroom", Default: "0", Summary: "slowdown that is always expected, a share",
		set: func(o *Options, value string) error {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || !(v >= 0) || v > 10 {
				return errors.New("a share from 0 to 10 is needed")
			}
			o.Headroom = v
			return nil
		},
	}},
	New: func(_ *board.Board, o Options) board.Selector {
		return &inTime{choose: efficiencyOf(o), slowdown: func(*board.Board, board.Index) float64 { return o.Headroom }}
	},
	reason: "the busy nodes where one more watt does most",
}

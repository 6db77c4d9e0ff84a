package consolidation

import (
	"context"

	"github.com/nomad-placer/nomad-placer/placer/consolidate"
)

// Study is every scheme under every seed.
type Study struct {
	Seeds   []uint64   `json:"seeds"`
	Options Options    `json:"options"`
	Volumes int        `json:"volumes"`
	Left    int        `json:"volumes_left_out"`
	Schemes []Compared `json:"schemes"`
}

// Compared is a scheme over all seeds: means, and the outcomes they are of.
type Compared struct {
	Name     string     `json:"name"`
	Summary  string     `json:"summary"`
	Savings  float64    `json:"savings"`
	Day      *Day       `json:"day,omitempty"`
	Outcomes []*Outcome `json:"outcomes"`
}

// Compare runs schemes under seeds. Savings are against the scheme "none", which is run
// whether it is asked for or not.
func Compare(ctx context.Context, volumes []Volume, schemes []consolidate.Scheme, o Options, seeds []uint64, progress func(done float64, what string)) (*Study, error) {
	none, err := consolidate.LookupScheme("none")
	if err != nil {
		return nil, err
	}
	study := &Study{Seeds: seeds, Options: o, Volumes: len(volumes)}
	for _, s := range schemes {
		study.Schemes = append(study.Schemes, Compared{Name: s.Name, Summary: s.Summary})
	}
	for i, seed := range seeds {
		setup, err := NewSetup(volumes, o, seed)
		if err != nil {
			return nil, err
		}
		base, err := setup.Run(ctx, none)
		if err != nil {
			return nil, err
		}
		for j, s := range schemes {
			out, err := setup.Run(ctx, s)
			if err != nil {
				return nil, err
			}
			out.Savings = base.Joules / out.Joules
			study.Schemes[j].Outcomes = append(study.Schemes[j].Outcomes, out)
			progress((float64(i)+float64(j+1)/float64(len(schemes)))/float64(len(seeds)), s.Name)
		}
	}
	for j := range study.Schemes {
		study.Schemes[j].mean()
	}
	return study, nil
}

// mean sums the outcomes up.
func (c *Compared) mean() {
	n := float64(len(c.Outcomes))
	for _, o := range c.Outcomes {
		c.Savings += o.Savings / n
		if o.Day == nil {
			continue
		}
		if c.Day == nil {
			c.Day = &Day{}
		}
		c.Day.Performance += o.Day.Performance / n
		c.Day.WorstApplication += o.Day.WorstApplication / n
		c.Day.LossP95 += o.Day.LossP95 / n
		c.Day.Broken += o.Day.Broken / n
		c.Day.NodesOn += o.Day.NodesOn / n
		c.Day.ActiveTime += o.Day.ActiveTime / n
		c.Day.MovedShare += o.Day.MovedShare / n
		c.Day.Unplaced += o.Day.Unplaced
	}
}

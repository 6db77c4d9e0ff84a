package policy

import "github.com/nomad-placer/nomad-placer/placer/cluster"

var nomadDescriptor = Descriptor{
	Name:    "nomad",
	Summary: "leave the choice to stock Nomad",
	New:     func() Policy { return nomad{} },
}

type nomad struct{}

// Place chooses nothing: the job is released unchanged.
func (nomad) Place(r Request) (cluster.Decision, error) {
	if err := validate(r); err != nil {
		return cluster.Decision{}, err
	}
	d := blank(r, nomadDescriptor.Name)
	d.Outcome, d.Reason = cluster.Stock, "the policy is to leave the choice to stock Nomad"
	return d, nil
}

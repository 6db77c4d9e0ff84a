package nomadapi

import (
	"context"
	"errors"

	"github.com/hashicorp/nomad/api"
)

// errManyRegions: which one the agent that is asked belongs to needs a right.
var errManyRegions = errors.New("there are several regions, and the token may not read (agent:read) which one this is; name it with -region")

// Region is the one of the Nomad agent that is asked.
func (w *World) Region(ctx context.Context) (string, error) {
	var regions []string
	if _, err := w.nomad.get(ctx, "/v1/regions", api.QueryOptions{}, &regions); err != nil {
		return "", wrap(err, "regions")
	}
	if len(regions) == 1 {
		return regions[0], nil
	}
	var self struct{ Config struct{ Region string } }
	if _, err := w.nomad.get(ctx, "/v1/agent/self", api.QueryOptions{}, &self); err != nil || self.Config.Region == "" {
		return "", errors.Join(errManyRegions, err)
	}
	return self.Config.Region, nil
}

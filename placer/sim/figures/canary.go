package figures

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
	"github.com/nomad-placer/nomad-placer/profiler/training"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

//go:embed canary.hcl
var canaryText []byte

// canary runs a small scenario with every policy and admission controller, and
// returns a hash of what came out, and of the training set: a program that places
// or slows jobs in another way has another canary, and nothing kept by the other
// one is used.
func canary(ctx context.Context, parallel int) (string, error) {
	s, err := scenario.Decode(canaryText, "canary.hcl")
	if err != nil {
		return "", fmt.Errorf("figures: canary: %w", err)
	}
	r, err := s.Run(ctx, scenario.Options{Parallel: parallel})
	if err != nil {
		return "", fmt.Errorf("figures: canary: %w", err)
	}
	rows, err := training.Load()
	if err != nil {
		return "", fmt.Errorf("figures: canary: %w", err)
	}
	pairs, err := training.LoadPairs()
	if err != nil {
		return "", fmt.Errorf("figures: canary: %w", err)
	}
	return hashOf([]any{r, rows, pairs})
}

// ownCanary is a hash of what our own policy makes of the canary with all that it is paired with:
// it changes more often than those that were published, whose runs are kept meanwhile.
func ownCanary(ctx context.Context, parallel int) (string, error) {
	s, err := scenario.Decode(canaryText, "canary.hcl")
	if err != nil {
		return "", fmt.Errorf("figures: canary: %w", err)
	}
	if s, err = s.WithEntrants([]scenario.Entrant{moving(scenario.Entrant{Name: ours, StartBelow: expectedStartBelow})}); err != nil {
		return "", fmt.Errorf("figures: canary: %w", err)
	}
	r, err := s.Run(ctx, scenario.Options{Parallel: parallel})
	if err != nil {
		return "", fmt.Errorf("figures: canary: %w", err)
	}
	return hashOf(r)
}

// colocatedCanary is a hash of how wrong each model of co-located applications is on
// every measured pair: a program whose models predict anything else has another one.
func colocatedCanary() (string, error) {
	apps, err := traconApplications(backgrounds.Local, backgrounds.Characteristics.Learnt)
	if err != nil {
		return "", err
	}
	var found [][]float64
	for _, a := range apps {
		for _, response := range responses {
			all, err := a.observations(response)
			if err != nil {
				return "", err
			}
			for _, l := range predict.Learners() {
				wrong, err := a.onPairs(l, response, all)
				if err != nil && !errors.Is(err, predict.ErrResponse) { // it makes no requests
					return "", fmt.Errorf("figures: canary: %s: %w", a.name, err)
				}
				found = append(found, wrong)
			}
		}
	}
	return hashOf(found)
}

func hashOf(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("figures: canary: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

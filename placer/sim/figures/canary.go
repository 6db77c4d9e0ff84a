package figures

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
	"github.com/nomad-placer/nomad-placer/profiler/training"
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
	data, err := json.Marshal([]any{r, rows, pairs})
	if err != nil {
		return "", fmt.Errorf("figures: canary: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

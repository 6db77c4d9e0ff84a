package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// knownRecord is what is known of a workload as -json prints it and profile import reads
// it: its profile, and what production says of it.
type knownRecord struct {
	profile.Profile
	Production *profile.Production `json:"production,omitempty"`
}

// profileReader reads what is known of workloads, by key.
type profileReader interface {
	Profile(ctx context.Context, key string) (profile.Profile, error)
	Production(ctx context.Context, key string) (profile.Production, error)
}

// profiled: of others, only production says something.
func (q knownRecord) profiled() bool {
	return q.Machine.Configuration != "" || len(q.Isolated) > 0 || len(q.Ramp) > 0
}

// readKnown reads one; cluster.ErrNoRecord where there is neither.
func readKnown(ctx context.Context, r profileReader, key string) (knownRecord, error) {
	p, err := r.Profile(ctx, key)
	unprofiled := errors.Is(err, cluster.ErrNoRecord)
	if err != nil && !unprofiled {
		return knownRecord{}, err
	}
	said, none := r.Production(ctx, key)
	switch {
	case errors.Is(none, cluster.ErrNoRecord) && unprofiled:
		return knownRecord{}, err
	case errors.Is(none, cluster.ErrNoRecord):
		return knownRecord{Profile: p}, nil
	case none != nil:
		return knownRecord{}, none
	case unprofiled:
		p = profile.Profile{Format: profile.Format, Key: key, Workload: said.Workload, Taken: said.Updated, SlowdownMax: said.SlowdownMax}
	}
	return knownRecord{p, &said}, nil
}

// readAllKnown reads what is known of all workloads, sorted by key.
func readAllKnown(ctx context.Context, s *command.Shell, from *recordFlags) ([]knownRecord, error) {
	r, err := from.open(s)
	if err != nil {
		return nil, err
	}
	keys, err := allKeys(ctx, r)
	if err != nil {
		return nil, err
	}
	all := make([]knownRecord, 0, len(keys))
	for _, key := range keys {
		q, err := readKnown(ctx, r, key)
		if errors.Is(err, cluster.ErrNoRecord) {
			fmt.Fprintf(s.Err, "Profile %s is left out: %s\n", key, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// findKey accepts the beginning of a key.
func findKey(keys []string, prefix string) (string, error) {
	var found []string
	for _, k := range keys {
		if strings.HasPrefix(k, strings.TrimSuffix(prefix, "…")) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 0:
		return "", command.WithHint(fmt.Errorf("profile %s: %w", prefix, cluster.ErrNoRecord), "nomad-placer profile list shows all keys")
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("profile %s: %d profiles begin with it: %s", prefix, len(found), strings.Join(found, ", "))
	}
}

func findKnown(ctx context.Context, s *command.Shell, from *recordFlags, prefix string) (knownRecord, error) {
	r, err := from.open(s)
	if err != nil {
		return knownRecord{}, err
	}
	keys, err := allKeys(ctx, r)
	if err != nil {
		return knownRecord{}, err
	}
	key, err := findKey(keys, prefix)
	if err != nil {
		return knownRecord{}, err
	}
	return readKnown(ctx, r, key)
}

package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// productionPrefix is the first segment of the path of what production says.
const productionPrefix = "production"

// Productions keeps profile.Production documents by the key of the profile they are beside.
type Productions struct{ Store Store }

// Get reads what production says of a workload; index is for Put, also with ErrRefused.
func (p Productions) Get(ctx context.Context, key string) (found profile.Production, index uint64, err error) {
	d, err := p.Store.Get(ctx, productionPath(key))
	if errors.Is(err, ErrDamaged) {
		return profile.Production{}, d.Index, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err != nil {
		return profile.Production{}, 0, err
	}
	if found, err = DecodeProduction(d.Data, key); err != nil {
		return profile.Production{}, d.Index, fmt.Errorf("%s: %w", d.Path, err)
	}
	return found, d.Index, nil
}

// DecodeProduction reads a document that anybody with the right to write Variables may
// have written.
func DecodeProduction(data []byte, key string) (profile.Production, error) {
	var found profile.Production
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return found, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if head.Format != profile.ProductionFormat {
		return found, fmt.Errorf("format %d of what production says, this version reads %d: %w", head.Format, profile.ProductionFormat, ErrFormat)
	}
	if err := json.Unmarshal(data, &found); err != nil {
		return profile.Production{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if found.Key != key {
		return profile.Production{}, fmt.Errorf("%w: it is of another key", ErrRefused)
	}
	if err := found.Check(); err != nil {
		return profile.Production{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return found, nil
}

// Put writes it whole or not at all; ifIndex as in Store.Put.
func (p Productions) Put(ctx context.Context, value profile.Production, ifIndex uint64) (index uint64, err error) {
	value.Format = profile.ProductionFormat
	data, err := json.Marshal(value)
	if err != nil {
		return 0, fmt.Errorf("what production says of %s: %w", value.Key, err)
	}
	return p.Store.Put(ctx, productionPath(value.Key), data, ifIndex)
}

// Delete forgets what production says of a workload.
func (p Productions) Delete(ctx context.Context, key string) error {
	return p.Store.Delete(ctx, productionPath(key))
}

// Keys are those of all that is stored, sorted, whether it can be used or not.
func (p Productions) Keys(ctx context.Context) ([]string, error) {
	paths, err := p.Store.List(ctx, productionPrefix)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		paths[i] = path[len(productionPrefix)+1:]
	}
	return paths, nil
}

// Each calls f with every document and its index, sorted by key. Those that cannot be used are
// left out and named in refused.
func (p Productions) Each(ctx context.Context, f func(found profile.Production, index uint64) error) (refused []error, err error) {
	return each(ctx, p.Keys, p.Get, f)
}

func productionPath(key string) string { return productionPrefix + "/" + key }

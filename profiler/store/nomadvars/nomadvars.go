package nomadvars

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// DefaultPrefix is the path under which the documents live.
const DefaultPrefix = "nomad-placer"

// Errors of this store.
var (
	ErrBadPrefix = errors.New("a prefix is 1 to 31 letters, digits, -, _ and /, and does not start with nomad/")
	ErrForbidden = errors.New("the Nomad token does not allow this")
)

// prefixPattern: a variable's path has at most 128 bytes, of which a document's
// path may take store.MaxPathBytes.
var prefixPattern = regexp.MustCompile(`^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$`)

const maxPrefixBytes = 128 - store.MaxPathBytes - 1

// Options of a store in Nomad Variables.
type Options struct {
	Prefix    string // default DefaultPrefix
	Namespace string // default: the client's
}

// Store talks to one Nomad cluster. It is safe for concurrent use.
type Store struct {
	client    *api.Client
	prefix    string
	namespace string
}

var _ store.Store = (*Store)(nil)

// New returns a store that uses client, which stays the caller's.
func New(client *api.Client, o Options) (*Store, error) {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	reserved := o.Prefix == "nomad" || strings.HasPrefix(o.Prefix, "nomad/")
	if reserved || len(o.Prefix) > maxPrefixBytes || !prefixPattern.MatchString(o.Prefix) {
		return nil, fmt.Errorf("prefix %q: %w", o.Prefix, ErrBadPrefix)
	}
	return &Store{client: client, prefix: o.Prefix, namespace: o.Namespace}, nil
}

// Get reads one variable.
func (s *Store) Get(ctx context.Context, path string) (store.Document, error) {
	if err := store.CheckPath(path); err != nil {
		return store.Document{}, err
	}
	v, err := again(ctx, func() (*api.Variable, error) {
		v, _, err := s.client.Variables().Read(s.variable(path), s.query(ctx))
		return v, err
	})
	if errors.Is(err, api.ErrVariablePathNotFound) {
		return store.Document{}, fmt.Errorf("%s: %w", path, store.ErrNotFound)
	}
	if err != nil {
		return store.Document{}, s.explain("read", path, err)
	}
	data, err := decode(v.Items)
	if err != nil {
		return store.Document{Path: path, Index: v.ModifyIndex}, fmt.Errorf("variable %s: %w", s.variable(path), err)
	}
	return store.Document{Path: path, Index: v.ModifyIndex, Data: data}, nil
}

// Put writes one variable, with Nomad's own check of its ModifyIndex.
func (s *Store) Put(ctx context.Context, path string, data []byte, ifIndex uint64) (uint64, error) {
	if err := store.CheckDocument(path, data); err != nil {
		return 0, err
	}
	items, err := encode(data)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	written, err := s.write(ctx, &api.Variable{Path: s.variable(path), Items: items}, ifIndex)
	if err != nil {
		return 0, s.explain("write", path, err)
	}
	return written.ModifyIndex, nil
}

func (s *Store) write(ctx context.Context, v *api.Variable, ifIndex uint64) (*api.Variable, error) {
	options := (&api.WriteOptions{Namespace: s.namespace}).WithContext(ctx)
	var written *api.Variable
	var err error
	switch ifIndex {
	case store.Any:
		written, _, err = s.client.Variables().Update(v, options)
	case 0:
		written, _, err = s.client.Variables().CheckedCreate(v, options)
	default:
		v.ModifyIndex = ifIndex
		written, _, err = s.client.Variables().CheckedUpdate(v, options)
	}
	return written, err
}

// Delete removes one variable.
func (s *Store) Delete(ctx context.Context, path string) error {
	if err := store.CheckPath(path); err != nil {
		return err
	}
	options := (&api.WriteOptions{Namespace: s.namespace}).WithContext(ctx)
	_, err := s.client.Variables().Delete(s.variable(path), options)
	if err != nil && status(err) != http.StatusNotFound {
		return s.explain("delete", path, err)
	}
	return nil
}

// DeleteIf removes one variable, with Nomad's own check of its ModifyIndex.
func (s *Store) DeleteIf(ctx context.Context, path string, ifIndex uint64) error {
	if err := store.CheckPath(path); err != nil {
		return err
	}
	options := (&api.WriteOptions{Namespace: s.namespace}).WithContext(ctx)
	if _, err := s.client.Variables().CheckedDelete(s.variable(path), ifIndex, options); err != nil {
		return s.explain("delete", path, err)
	}
	return nil
}

// List returns the paths below prefix.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	if err := store.CheckPrefix(prefix); err != nil {
		return nil, err
	}
	below := s.prefix + "/"
	if prefix != "" {
		below = s.variable(prefix) + "/"
	}
	found, err := again(ctx, func() ([]*api.VariableMetadata, error) {
		found, _, err := s.client.Variables().PrefixList(below, s.query(ctx))
		return found, err
	})
	if err != nil {
		return nil, s.explain("list", prefix, err)
	}
	var paths []string
	for _, v := range found {
		paths = append(paths, strings.TrimPrefix(v.Path, s.prefix+"/"))
	}
	sort.Strings(paths)
	return paths, nil
}

// How often a read is tried, and what is waited before the second try, the third after twice
// that (chosen by us): a leader that reads hundreds of documents is not to begin anew because
// a server was away for a moment.
const (
	readAttempts  = 4
	readFirstWait = 100 * time.Millisecond
)

// again reads until there is an answer that would not be another one a moment later.
func again[T any](ctx context.Context, read func() (T, error)) (T, error) {
	wait := readFirstWait
	for attempt := 1; ; attempt++ {
		found, err := read()
		if err == nil || attempt == readAttempts || !passing(err) || ctx.Err() != nil {
			return found, err
		}
		select {
		case <-ctx.Done():
			return found, err
		case <-time.After(wait):
		}
		wait *= 2
	}
}

// passing: no answer came, or one of a server that cannot answer now.
func passing(err error) bool {
	if errors.Is(err, api.ErrVariablePathNotFound) {
		return false
	}
	code := status(err)
	return code == 0 || code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}

// Close does nothing; the client is the caller's.
func (s *Store) Close() error { return nil }

func (s *Store) variable(path string) string { return s.prefix + "/" + path }

func (s *Store) query(ctx context.Context) *api.QueryOptions {
	return (&api.QueryOptions{Namespace: s.namespace}).WithContext(ctx)
}

// explain turns Nomad's answers into the errors of a Store.
func (s *Store) explain(verb, path string, err error) error {
	var conflict api.ErrCASConflict
	if errors.As(err, &conflict) {
		return fmt.Errorf("%s: %w", path, store.ErrConflict)
	}
	switch status(err) {
	case http.StatusConflict:
		return fmt.Errorf("%s: %w", path, store.ErrConflict)
	case http.StatusForbidden:
		return fmt.Errorf("%s variable %s: %w; its policy needs variables { path %q { capabilities = [\"read\", \"write\", \"list\", \"destroy\"] } }",
			verb, s.variable(path), ErrForbidden, s.prefix+"/*")
	case http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%s: %w", path, store.ErrTooLarge)
	}
	return fmt.Errorf("%s variable %s: %w", verb, s.variable(path), err)
}

// status returns the HTTP status of an error of the Nomad API, or 0.
func status(err error) int {
	var unexpected api.UnexpectedResponseError
	if errors.As(err, &unexpected) {
		return unexpected.StatusCode()
	}
	return 0
}

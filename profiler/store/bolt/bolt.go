package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/nomad-placer/nomad-placer/profiler/store"
)

const (
	bucketPrefix = "nomad-placer/"
	bucketName   = bucketPrefix + "1" // layout version 1
	indexBytes   = 8
	// lockWait is how long Open waits for another process to let go of the
	// file (chosen by us: longer than a restart's overlap, shorter than a
	// person's patience).
	lockWait = 2 * time.Second
)

// Errors of Open.
var (
	ErrInUse   = errors.New("another process has the store's file open")
	ErrVersion = errors.New("the file was written by a version of nomad-placer with another layout")
)

// Store is an open file. It is safe for concurrent use.
type Store struct{ db *bbolt.DB }

var _ store.Store = (*Store)(nil)

// Open opens or creates the file with mode 0600.
func Open(file string) (*Store, error) {
	db, err := bbolt.Open(file, 0o600, &bbolt.Options{Timeout: lockWait})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("open %s: %w", file, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	if err := db.Update(prepare); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", file, err), db.Close())
	}
	return &Store{db: db}, nil
}

// prepare creates the bucket of this layout, unless another layout's is there.
func prepare(tx *bbolt.Tx) error {
	err := tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if strings.HasPrefix(string(name), bucketPrefix) && string(name) != bucketName {
			return fmt.Errorf("layout %s, this program writes %s: %w", name, bucketName, ErrVersion)
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = tx.CreateBucketIfNotExists([]byte(bucketName))
	return err
}

// Get reads one document.
func (s *Store) Get(ctx context.Context, path string) (store.Document, error) {
	d := store.Document{Path: path}
	if err := begin(ctx, store.CheckPath(path)); err != nil {
		return d, err
	}
	err := s.db.View(func(tx *bbolt.Tx) error {
		value := tx.Bucket([]byte(bucketName)).Get([]byte(path))
		if value == nil {
			return fmt.Errorf("%s: %w", path, store.ErrNotFound)
		}
		index, err := indexOf(value)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		// The value is only valid inside the transaction.
		d.Index, d.Data = index, bytes.Clone(value[indexBytes:])
		return nil
	})
	return d, err
}

// Put writes one document and syncs the file.
func (s *Store) Put(ctx context.Context, path string, data []byte, ifIndex uint64) (uint64, error) {
	if err := begin(ctx, store.CheckDocument(path, data)); err != nil {
		return 0, err
	}
	var index uint64
	err := s.db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte(bucketName))
		if err := checkIndex(bucket, path, ifIndex); err != nil {
			return err
		}
		next, err := bucket.NextSequence()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		index = next
		return bucket.Put([]byte(path), append(binary.BigEndian.AppendUint64(nil, index), data...))
	})
	if err != nil {
		return 0, err
	}
	return index, nil
}

func checkIndex(bucket *bbolt.Bucket, path string, ifIndex uint64) error {
	if ifIndex == store.Any {
		return nil
	}
	var have uint64
	if value := bucket.Get([]byte(path)); value != nil {
		var err error
		if have, err = indexOf(value); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if have != ifIndex {
		return fmt.Errorf("%s has index %d, not %d: %w", path, have, ifIndex, store.ErrConflict)
	}
	return nil
}

func indexOf(value []byte) (uint64, error) {
	if len(value) < indexBytes {
		return 0, fmt.Errorf("the value has no index: %w", store.ErrDamaged)
	}
	return binary.BigEndian.Uint64(value), nil
}

// Delete removes one document.
func (s *Store) Delete(ctx context.Context, path string) error {
	if err := begin(ctx, store.CheckPath(path)); err != nil {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(bucketName)).Delete([]byte(path))
	})
}

// DeleteIf removes one document if nobody has written it since.
func (s *Store) DeleteIf(ctx context.Context, path string, ifIndex uint64) error {
	if err := begin(ctx, store.CheckPath(path)); err != nil {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte(bucketName))
		if err := checkIndex(bucket, path, ifIndex); err != nil {
			return err
		}
		return bucket.Delete([]byte(path))
	})
}

// List returns the paths below prefix, in the file's order, which is sorted.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	if err := begin(ctx, store.CheckPrefix(prefix)); err != nil {
		return nil, err
	}
	below := ""
	if prefix != "" {
		below = prefix + "/"
	}
	var paths []string
	err := s.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(bucketName)).Cursor()
		for key, _ := c.Seek([]byte(below)); key != nil && strings.HasPrefix(string(key), below); key, _ = c.Next() {
			paths = append(paths, string(key))
		}
		return nil
	})
	return paths, err
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// begin is the check every operation starts with.
func begin(ctx context.Context, argument error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return argument
}

// Package store keeps profiles, decisions and training sets.
//
// A Store is a small document store with compare-and-set: a bbolt file on one
// machine (bolt), Nomad Variables in a cluster (nomadvars), or memory (mem) for
// tests and dry runs. Every implementation passes the conformance suite in
// storetest by being listed there. The documents and their versions are
// described in FORMAT.md.
package store

import (
	"context"
	"errors"
	"math"
)

// Any as ifIndex writes whatever is there.
const Any = math.MaxUint64

// MaxDocumentBytes is the largest document every store accepts; it is the
// limit of a Nomad Variable (64 KiB) less its key names and base64.
const MaxDocumentBytes = 46 << 10

// Errors of a Store.
var (
	ErrNotFound = errors.New("no such document")
	ErrConflict = errors.New("the document changed since it was read")
	ErrTooLarge = errors.New("the document is larger than a store accepts")
	ErrDamaged  = errors.New("the document is not as it was written")
	ErrBadPath  = errors.New("a path has 1 to 8 segments of letters, digits, - and _")
)

// Document is a stored value. Index changes with every write.
type Document struct {
	Path  string
	Index uint64
	Data  []byte
}

// Store keeps documents by path, for example "profile/3f2a…".
type Store interface {
	// Get returns ErrNotFound where there is nothing, and with ErrDamaged the index of
	// what is there.
	Get(ctx context.Context, path string) (Document, error)
	// Put writes data if the document's index is still ifIndex: 0 means "must
	// not exist", Any means "whatever is there"; otherwise ErrConflict.
	Put(ctx context.Context, path string, data []byte, ifIndex uint64) (index uint64, err error)
	// Delete removes a document; deleting nothing is not an error.
	Delete(ctx context.Context, path string) error
	// DeleteIf removes a document if its index is still ifIndex, otherwise ErrConflict.
	DeleteIf(ctx context.Context, path string, ifIndex uint64) error
	// List returns the paths below prefix (a whole path segment), sorted.
	List(ctx context.Context, prefix string) ([]string, error)
	Close() error
}

package store

import (
	"fmt"
	"regexp"
)

// MaxPathBytes is the longest path every store accepts: a Nomad Variable's path
// has 128 bytes, and the prefix of this program takes some.
const MaxPathBytes = 96

var pathPattern = regexp.MustCompile(`^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+){0,7}$`)

// CheckPath returns ErrBadPath for a path some store could not keep.
func CheckPath(path string) error {
	if len(path) > MaxPathBytes {
		return fmt.Errorf("path of %d bytes, at most %d: %w", len(path), MaxPathBytes, ErrBadPath)
	}
	if !pathPattern.MatchString(path) {
		return fmt.Errorf("path %q: %w", path, ErrBadPath)
	}
	return nil
}

// CheckPrefix checks the argument of List: a path, or "" for everything.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	return CheckPath(prefix)
}

// CheckDocument checks the arguments of Put.
func CheckDocument(path string, data []byte) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	if len(data) > MaxDocumentBytes {
		return fmt.Errorf("document %s has %d bytes, at most %d: %w", path, len(data), MaxDocumentBytes, ErrTooLarge)
	}
	return nil
}

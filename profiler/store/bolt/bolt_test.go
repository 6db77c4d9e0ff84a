package bolt_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/bolt"
	"github.com/nomad-placer/nomad-placer/profiler/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, filepath.Join(t.TempDir(), "store.db"))
	})
}

func open(t *testing.T, file string) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSurvivesReopening(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "store.db")
	first := open(t, file)
	index, err := first.Put(t.Context(), "profile/a", []byte("kept"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.Open(file); !errors.Is(err, bolt.ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, file)
	defer second.Close()
	d, err := second.Get(t.Context(), "profile/a")
	if err != nil || string(d.Data) != "kept" || d.Index != index {
		t.Errorf("%q at %d, %v", d.Data, d.Index, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "store.db")
	db, err := bbolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("nomad-placer/99"))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.Open(file); !errors.Is(err, bolt.ErrVersion) {
		t.Errorf("newer layout: %v", err)
	}
	junk := filepath.Join(t.TempDir(), "junk")
	if err := os.WriteFile(junk, []byte("not a database, but long enough to be looked at"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.Open(junk); err == nil {
		t.Error("opened a file that is no database")
	}
	if _, err := bolt.Open(filepath.Join(t.TempDir(), "no", "such", "dir")); err == nil {
		t.Error("opened a file in a directory that is not there")
	}
}

package signing_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/signing"
)

var start = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func newKey(t *testing.T) signing.Key {
	t.Helper()
	k, err := signing.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func request() signing.Request {
	return signing.Request{
		Work: signing.Lend, Namespace: "default", Job: "placer-lend-a1b2c3d4", Node: "n1", Task: "lend", CPUMHz: 100, MemoryMB: 64,
		Terms: signing.LendTerms("a1b2c3d4-1", "web", 500, "100us"),
	}
}

// A signature holds for its request alone, until it expires, for every accepted signer.
func TestVerify(t *testing.T) {
	t.Parallel()
	key, old, other := newKey(t), newKey(t), newKey(t)
	signers := []signing.Signer{old.Signer(), key.Signer()} // while a key is replaced
	expires := start.Add(time.Minute)
	for _, k := range []signing.Key{key, old} {
		if err := signing.Verify(signers, request(), k.Sign(request(), expires), start); err != nil {
			t.Error(err)
		}
	}
	signature := key.Sign(request(), expires)
	if err := signing.Verify(signers, request(), signature, expires); !errors.Is(err, signing.ErrExpired) {
		t.Errorf("when it has expired: %v", err)
	}
	if err := signing.Verify(signers, request(), other.Sign(request(), expires), start); !errors.Is(err, signing.ErrSigner) {
		t.Errorf("by another key: %v", err)
	}
	if err := signing.Verify(signers, request(), "", start); !errors.Is(err, signing.ErrUnsigned) {
		t.Errorf("without a signature: %v", err)
	}
	for name, change := range map[string]func(*signing.Request){
		"work":         func(r *signing.Request) { r.Work = signing.Profile },
		"namespace":    func(r *signing.Request) { r.Namespace = "prod" },
		"job":          func(r *signing.Request) { r.Job += "x" },
		"node":         func(r *signing.Request) { r.Node = "n2" },
		"task":         func(r *signing.Request) { r.Task = "web" },
		"CPU":          func(r *signing.Request) { r.CPUMHz++ },
		"memory":       func(r *signing.Request) { r.MemoryMB++ },
		"a term":       func(r *signing.Request) { r.Terms[0] = "b" },
		"a term more":  func(r *signing.Request) { r.Terms = append(r.Terms, "") },
		"a term moved": func(r *signing.Request) { r.Task, r.Terms[0] = r.Task+r.Terms[0], "" },
	} {
		r := request()
		change(&r)
		if err := signing.Verify(signers, r, signature, start); !errors.Is(err, signing.ErrSigner) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	_, sum, _ := strings.Cut(signature, ":")
	later := "99999999999:" + sum
	if err := signing.Verify(signers, request(), later, start); !errors.Is(err, signing.ErrSigner) {
		t.Errorf("with a later expiry: %v", err)
	}
	for _, damaged := range []string{"x", ":", sum, "1:" + sum[:20], "1:" + sum + "=", "1:" + sum + "\n"} {
		if err := signing.Verify(signers, request(), damaged, start); err == nil {
			t.Errorf("%q was accepted", damaged)
		}
	}
}

func TestKeyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signing.key")
	key := newKey(t)
	if err := key.Save(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	loaded, err := signing.LoadKey(path)
	if err != nil || loaded.Signer().String() != key.Signer().String() {
		t.Errorf("%v, %v", loaded.Signer(), err)
	}
	if err := newKey(t).Save(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a key was replaced: %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := signing.LoadKey(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
		t.Errorf("a key that others may read: %v", err)
	}
	for name, text := range map[string]string{"empty": "", "public": key.Signer().String(), "short": "ed25519-private:AAAA"} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := signing.LoadKey(file); err == nil || !strings.Contains(err.Error(), "keys generate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSigners(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	s, err := signing.ParseSigner(key.Signer().String())
	if err != nil || s.ID() != key.Signer().ID() || len(s.ID()) != 8 {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{"", "ed25519:", "ed25519:AAAA", "rsa:AAAA", strings.TrimPrefix(s.String(), "ed25519:")} {
		if _, err := signing.ParseSigner(bad); err == nil {
			t.Errorf("%q is a signer", bad)
		}
	}
	if _, err := signing.NewKey(bytes.NewReader(nil)); err == nil {
		t.Error("a key without chance")
	}
}

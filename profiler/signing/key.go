package signing

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
)

// Key is the private key of an agent. It is never printed.
type Key struct{ private ed25519.PrivateKey }

// NewKey makes a key from a source of chance.
func NewKey(random io.Reader) (Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return Key{}, fmt.Errorf("signing key: %w", err)
	}
	return Key{ed25519.NewKeyFromSeed(seed)}, nil
}

// String names the key and says nothing of its private half.
func (k Key) String() string { return "signing key " + k.Signer().ID() }

// Signer is the public half.
func (k Key) Signer() Signer { return Signer{k.private.Public().(ed25519.PublicKey)} }

// keyFileMode lets the owner read and write, and nobody else.
const keyFileMode = 0o600

// Save writes the key to a new file that only its owner can read. A file that is there
// already is not replaced: an agent may be using it.
func (k Key) Save(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, keyFileMode)
	if err != nil {
		return fmt.Errorf("signing key: %w", err)
	}
	_, err = fmt.Fprintln(file, privatePrefix+base64.StdEncoding.EncodeToString(k.private.Seed()))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(fmt.Errorf("signing key: %w", err), os.Remove(path))
	}
	return nil
}

// keyFileBytes is more than a key file has.
const keyFileBytes = 4096

// LoadKey reads what Save wrote. A file that others may read or write is refused.
func LoadKey(path string) (Key, error) {
	file, err := os.Open(path)
	if err != nil {
		return Key{}, fmt.Errorf("signing key: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Key{}, fmt.Errorf("signing key: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return Key{}, fmt.Errorf("signing key %s: its mode %04o lets others than its owner at it; run: chmod 600 %s", path, mode, path)
	}
	text, err := io.ReadAll(io.LimitReader(file, keyFileBytes))
	if err != nil {
		return Key{}, fmt.Errorf("signing key: %w", err)
	}
	seed, err := parse(string(text), privatePrefix, ed25519.SeedSize)
	if err != nil {
		return Key{}, fmt.Errorf("signing key %s: %w", path, err)
	}
	return Key{ed25519.NewKeyFromSeed(seed)}, nil
}

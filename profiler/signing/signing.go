// Package signing lets a driver tell what an agent asks of it from what anybody else who may
// submit jobs does: the agent signs its requests, and the driver has the public key.
//
// What is signed, and in which form, is said here alone.
package signing

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Request is what is asked of the driver on one node, with all that decides what it does
// and for whom. Job and Namespace are of the job that the task is in.
type Request struct {
	Work      string   // "profile" or "lend"
	Namespace string   //
	Job       string   // its ID
	Node      string   // its ID
	Task      string   // its name
	CPUMHz    int64    // that Nomad gives the task
	MemoryMB  int64    // the same, with memory_max
	Terms     []string // the values of the block, in an order that its reader and writer agree on
}

// Errors of a signature.
var (
	ErrUnsigned = errors.New("the request is not signed")
	ErrExpired  = errors.New("the signature has expired")
	ErrSigner   = errors.New("the signature is by none of the signers that this node accepts, or of another request")
	errForm     = errors.New("the signature is damaged")
)

// domain begins the bytes that are signed, so that no signature for another purpose, or of
// another form of Request, is one of these.
const domain = "nomad-placer driver request 1"

// bytes is the canonical form of a request: each text with its length, so that no two
// requests have the same.
func (r Request) bytes(expires int64) []byte {
	texts := append([]string{
		domain, r.Work, r.Namespace, r.Job, r.Node, r.Task,
		strconv.FormatInt(r.CPUMHz, 10), strconv.FormatInt(r.MemoryMB, 10), strconv.FormatInt(expires, 10),
	}, r.Terms...)
	var out []byte
	for _, t := range texts {
		out = binary.BigEndian.AppendUint64(out, uint64(len(t)))
		out = append(out, t...)
	}
	return out
}

// Sign returns the signature of a request, with the second at which it expires.
func (k Key) Sign(r Request, expires time.Time) string {
	at := expires.Unix()
	return strconv.FormatInt(at, 10) + ":" + base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, r.bytes(at)))
}

// Verify returns nil where one of the signers has signed the request and the signature has
// not expired.
func Verify(signers []Signer, r Request, signature string, now time.Time) error {
	if signature == "" {
		return ErrUnsigned
	}
	until, text, ok := strings.Cut(signature, ":")
	at, errAt := strconv.ParseInt(until, 10, 64)
	sum, errSum := base64.StdEncoding.Strict().DecodeString(text)
	if !ok || errAt != nil || errSum != nil || len(sum) != ed25519.SignatureSize {
		return errForm
	}
	data := r.bytes(at)
	for _, s := range signers {
		if !ed25519.Verify(s.public, data, sum) {
			continue
		}
		if expires := time.Unix(at, 0); !now.Before(expires) {
			return fmt.Errorf("%w at %s, and this node's clock says %s", ErrExpired, expires.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
		}
		return nil
	}
	return ErrSigner
}

// Signer is a public key whose requests a node accepts.
type Signer struct{ public ed25519.PublicKey }

// The beginnings of the texts of keys.
const (
	publicPrefix  = "ed25519:"
	privatePrefix = "ed25519-private:"
)

// String is the text that ParseSigner reads.
func (s Signer) String() string { return publicPrefix + base64.StdEncoding.EncodeToString(s.public) }

// ID is short and tells signers apart. It is no secret, and no proof.
func (s Signer) ID() string {
	sum := sha256.Sum256(s.public)
	return hex.EncodeToString(sum[:4])
}

// ParseSigner reads a public key.
func ParseSigner(text string) (Signer, error) {
	data, err := parse(text, publicPrefix, ed25519.PublicKeySize)
	return Signer{data}, err
}

func parse(text, prefix string, size int) ([]byte, error) {
	encoded, ok := strings.CutPrefix(strings.TrimSpace(text), prefix)
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || len(data) != size {
		return nil, fmt.Errorf("not %s and %d bytes in base64, as `nomad-placer keys generate` writes it", prefix, size)
	}
	return data, nil
}

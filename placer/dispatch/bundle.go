package dispatch

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// MostPayloadBytes is what Nomad takes with a dispatch.
const MostPayloadBytes = 16 << 10

// mostInputBytes bounds what a payload unfolds to, and mostResultBytes a result.
const (
	mostInputBytes  = 4 << 20
	mostResultBytes = 256 << 20
)

// Errors of what is handed out and comes back.
var (
	// ErrTooLarge: a unit does not fit into a dispatch.
	ErrTooLarge = errors.New("dispatch: the unit is too large for a dispatch")
	// ErrProgram: the program on the node is another one.
	ErrProgram = errors.New("dispatch: the program on the node is another one than here")
	// ErrResult: what came back is not what was asked for.
	ErrResult = errors.New("dispatch: not a result of what was handed out")
)

// bundle is what one dispatch does.
type bundle struct {
	Program string   `json:"program"` // checksum of the program that hands out
	Inputs  [][]byte `json:"inputs"`
}

// encode is the payload of a dispatch.
func (b bundle) encode() ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(json.NewEncoder(z).Encode(b), z.Close()); err != nil {
		return nil, err
	}
	if out.Len() > MostPayloadBytes {
		return nil, fmt.Errorf("%w: %d bytes of %d", ErrTooLarge, out.Len(), MostPayloadBytes)
	}
	return out.Bytes(), nil
}

func decodeBundle(payload []byte) (bundle, error) {
	var b bundle
	z, err := gzip.NewReader(bytes.NewReader(payload))
	if err != nil {
		return b, fmt.Errorf("dispatch: the payload: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, mostInputBytes+1))
	if err != nil {
		return b, fmt.Errorf("dispatch: the payload: %w", err)
	}
	if len(text) > mostInputBytes {
		return b, fmt.Errorf("dispatch: the payload unfolds to more than %d bytes", mostInputBytes)
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return b, fmt.Errorf("dispatch: the payload: %w", err)
	}
	return b, nil
}

// outcome is what became of one unit.
type outcome struct {
	Input   string  `json:"input"` // its checksum
	Result  []byte  `json:"result,omitempty"`
	Error   string  `json:"error,omitempty"` // then there is no result
	Seconds float64 `json:"seconds"`
}

// returned is what a dispatch leaves behind.
type returned struct {
	Program  string    `json:"program"`
	Outcomes []outcome `json:"outcomes"`
}

// encode has the checksum in its first line.
func (r returned) encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return append([]byte(checksum(text)+"\n"), text...), nil
}

// decodeReturned believes what is whole, and of the bundle.
func decodeReturned(data []byte, of bundle) ([]outcome, error) {
	sum, text, found := bytes.Cut(data, []byte("\n"))
	if !found || string(sum) != checksum(text) {
		return nil, fmt.Errorf("%w: it is torn", ErrResult)
	}
	var r returned
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrResult, err)
	}
	if r.Program != of.Program {
		return nil, ErrProgram
	}
	if len(r.Outcomes) != len(of.Inputs) {
		return nil, fmt.Errorf("%w: %d units of %d", ErrResult, len(r.Outcomes), len(of.Inputs))
	}
	for i, o := range r.Outcomes {
		if o.Input != checksum(of.Inputs[i]) {
			return nil, fmt.Errorf("%w: unit %d is another", ErrResult, i)
		}
	}
	return r.Outcomes, nil
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// thisProgram is the checksum of the file that runs.
var thisProgram = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})

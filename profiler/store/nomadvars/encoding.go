package nomadvars

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/profiler/store"
)

const (
	itemEncoding = "encoding"
	itemData     = "data"

	encodingText   = "text"
	encodingBase64 = "base64"
	encodingGzip   = "gzip+base64"

	// compressAboveBytes: shorter documents stay readable in the Nomad UI
	// (chosen by us: about two screens of JSON).
	compressAboveBytes = 4 << 10
)

// encode chooses the readable form for short text, else the smallest.
func encode(data []byte) (api.VariableItems, error) {
	text := utf8.Valid(data)
	if text && len(data) <= compressAboveBytes {
		return items(encodingText, string(data)), nil
	}
	packed, err := compress(data)
	if err != nil {
		return nil, err
	}
	zipped := base64.StdEncoding.EncodeToString(packed)
	if text && len(data) <= len(zipped) {
		return items(encodingText, string(data)), nil
	}
	if len(packed) < len(data) {
		return items(encodingGzip, zipped), nil
	}
	return items(encodingBase64, base64.StdEncoding.EncodeToString(data)), nil
}

func items(encoding, data string) api.VariableItems {
	return api.VariableItems{itemEncoding: encoding, itemData: data}
}

func decode(items api.VariableItems) ([]byte, error) {
	data := items[itemData]
	switch encoding := items[itemEncoding]; encoding {
	case encodingText:
		return []byte(data), nil
	case encodingBase64:
		return fromBase64(data)
	case encodingGzip:
		packed, err := fromBase64(data)
		if err != nil {
			return nil, err
		}
		return decompress(packed)
	default:
		return nil, fmt.Errorf("the variable's %q item is %q; it was not written by this version of nomad-placer: %w", itemEncoding, encoding, store.ErrDamaged)
	}
}

func fromBase64(data string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, fmt.Errorf("the variable's %q item cannot be unpacked: %w: %w", itemData, store.ErrDamaged, err)
	}
	return raw, nil
}

// packers are kept for the next document: a fresh one takes close to a megabyte. They are
// fast rather than thorough: every decision has its record packed.
var packers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant of the same package
	}
	return w
}}

func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w := packers.Get().(*gzip.Writer)
	defer packers.Put(w)
	w.Reset(&out)
	if _, err := w.Write(data); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}

// decompress refuses to grow beyond what a store accepts, so that a variable
// written by someone else cannot fill the memory.
func decompress(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("the variable's %q item cannot be unpacked: %w: %w", itemData, store.ErrDamaged, err)
	}
	defer func() { _ = r.Close() }() // a memory reader; Close has nothing to report that ReadAll has not
	data, err := io.ReadAll(io.LimitReader(r, store.MaxDocumentBytes+1))
	if err != nil {
		return nil, fmt.Errorf("the variable's %q item cannot be unpacked: %w: %w", itemData, store.ErrDamaged, err)
	}
	if len(data) > store.MaxDocumentBytes {
		return nil, fmt.Errorf("the variable unpacks to more than %d bytes: %w: %w", store.MaxDocumentBytes, store.ErrDamaged, store.ErrTooLarge)
	}
	return data, nil
}

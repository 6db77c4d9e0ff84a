package store_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// FuzzDecodeProfile: a stored profile that anybody wrote is refused, or reads the same
// after it was written again, alone and merged with itself.
func FuzzDecodeProfile(f *testing.F) {
	f.Add([]byte(`{"format":1,"key":"k","taken":"2026-01-02T03:04:05Z","alone":{"small":{"value":100,"low":99,"high":101,"unit":"rounds","windows":3}}}`))
	f.Add([]byte(`{"format":1,"key":"k","sensitivity":{"tolerated":{"int":{"score":40}},"caused":{"llc":{"score":null}}},"ramp":[{"source":"int","intensity_percent":1e308}]}`))
	f.Add([]byte(`{"format":1,"alone":null,"scale_up":[{"cores":-1},{"cores":-1}],"duration":-9223372036854775808}`))
	f.Add([]byte(`{"format":2}`))
	f.Add([]byte(`{"format":1,"FORMAT":2,"format":1}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := store.DecodeProfile(data)
		if err != nil {
			return
		}
		merged, err := store.Merge(p, p)
		if err != nil {
			t.Fatalf("with itself: %v", err)
		}
		for _, value := range []any{p, merged} {
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatalf("%+v cannot be written: %v", value, err)
			}
			again, err := store.DecodeProfile(text)
			if err != nil {
				t.Fatalf("written as %s: %v", text, err)
			}
			if twice, err := json.Marshal(again); err != nil || !bytes.Equal(text, twice) {
				t.Fatalf("%s became %s, %v", text, twice, err)
			}
		}
	})
}

package nomadvars

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"testing"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// FuzzDecode: a variable that anybody wrote is a document of bounded size or an error, and
// a document survives being written again.
func FuzzDecode(f *testing.F) {
	f.Add("text", "{}")
	f.Add("base64", "AAECAw==")
	f.Add("base64", "AAECAw")
	f.Add("gzip+base64", "H4sIAAAAAAAA")
	f.Add("gzip+base64", base64.StdEncoding.EncodeToString(zipped(f, bytes.Repeat([]byte("0"), 1<<20))))
	f.Add("", "")
	f.Add("GZIP+BASE64", "!")
	f.Fuzz(func(t *testing.T, encoding, data string) {
		got, err := decode(api.VariableItems{itemEncoding: encoding, itemData: data})
		if err != nil {
			return
		}
		if len(got) > max(store.MaxDocumentBytes, len(data)) {
			t.Fatalf("%d bytes became %d", len(data), len(got))
		}
		items, err := encode(got)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decode(items); len(got) <= store.MaxDocumentBytes && (err != nil || !bytes.Equal(again, got)) {
			t.Fatalf("%q became %q, %v", got, again, err)
		}
	})
}

func zipped(f *testing.F, data []byte) []byte {
	f.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	return out.Bytes()
}

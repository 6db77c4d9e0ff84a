package trace_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

// FuzzReaders feeds any bytes to the readers: they end, in order and with sane numbers, or
// with an error that says where.
func FuzzReaders(f *testing.F) {
	for _, text := range []string{
		fio2, fio3, blk, cloud, "", "\x1f\x8b\x08", "fio version 3 iolog\n9223372036854775 /a read 1 1\n",
		"fio version 2 iolog\n/a wait 9223372036854775\n/a wait 9223372036854775\n/a read 0 1\n", "8,0 1 2 9223372036.999999999 5 Q R 8 + 8 [a]\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		records, _, err := readAll("", string(text))
		if err != nil && !errors.Is(err, trace.ErrFormat) {
			t.Fatalf("an error that does not say where: %v", err)
		}
		var last time.Duration
		for i, r := range records {
			if r.At < last || (i == 0 && r.At != 0) || r.Offset < 0 || r.Bytes < 1 || r.End() < r.Offset || r.Op > 1 {
				t.Fatalf("after %s: %+v", last, r)
			}
			last = r.At
		}
	})
}

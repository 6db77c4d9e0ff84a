package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

// BenchmarkRead reads each format.
func BenchmarkRead(b *testing.B) {
	const ios = 100_000
	texts := map[string]func(i int) string{
		"fio": func(i int) string { return fmt.Sprintf("%d /data/file read %d 8192\n", 100*i, 4096*(i*7919%100000)) },
		"blkparse": func(i int) string {
			return fmt.Sprintf("  8,0    3   %6d   %4d.%09d   697  Q   W %d + 8 [kworker]\n", i, i/1000, i%1000*1000, i*7919%1000000)
		},
		"cloudphysics": func(i int) string { return fmt.Sprintf("1,%d,2a,512,%d\n", 5633898+i/100, i*7919%1000000) },
	}
	heads := map[string]string{"fio": "fio version 3 iolog\n", "cloudphysics": "version,time,op,size,lbn\n"}
	for _, name := range trace.Names() {
		b.Run(name, func(b *testing.B) {
			var text strings.Builder
			text.WriteString(heads[name])
			for i := range ios {
				text.WriteString(texts[name](i))
			}
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				records, _, err := readAll(name, text.String())
				if err != nil || len(records) != ios {
					b.Fatalf("%d I/Os, %v", len(records), err)
				}
			}
			b.ReportMetric(ios*float64(b.N)/b.Elapsed().Seconds(), "ios/s")
		})
	}
}

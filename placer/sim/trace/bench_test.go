package trace_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

// googleRows makes a table of task events in the published format: each task is
// submitted, scheduled and finished, a hundred at a time.
func googleRows(tasks int) []byte {
	var b bytes.Buffer
	const user = "hK5qlyv8uQZS1Ez0dQ8yd3uOuVtX0cyGG2OZLsgTIEM="
	const tail = user + ",2,9,0.01562,0.01553,0.0002155,0\n"
	for from := 0; from < tasks; from += 100 {
		for event, kind := range []int{0, 1, 4} {
			for i := from; i < min(from+100, tasks); i++ {
				fmt.Fprintf(&b, "%d,,%d,%d,%d,%d,%s", 600_000_000+3000*from+1000*event+i-from, 6_000_000_000+i/50, i%50, 317469310+i, kind, tail)
			}
		}
	}
	return b.Bytes()
}

const benchTasks = 100_000

func folderWith(text []byte) fs.FS { return fstest.MapFS{"f.csv": {Data: text}} }

// BenchmarkGoogleTaskEvents reads the events into jobs; rows/s is what the
// replay of a day depends on.
func BenchmarkGoogleTaskEvents(b *testing.B) {
	text := googleRows(benchTasks)
	for name, data := range map[string][]byte{"plain": text, "gzip": []byte(zipped(b, string(text)))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			folder := folderWith(data)
			for b.Loop() {
				d, err := trace.Lookup("google-2011")
				if err != nil {
					b.Fatal(err)
				}
				r, err := d.Open(folder, trace.Options{})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for {
					_, err := r.Next()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != benchTasks {
					b.Fatalf("%d jobs", n)
				}
			}
			b.ReportMetric(3*benchTasks*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkEncodingCSV only splits the same rows and reads four numbers of each,
// with encoding/csv and strconv: what the reader above would cost at least with
// them, before any of its work.
func BenchmarkEncodingCSV(b *testing.B) {
	text := googleRows(benchTasks)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r := csv.NewReader(bytes.NewReader(text))
		r.ReuseRecord = true
		for {
			record, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			for _, column := range []int{0, 2, 3, 5} {
				if _, err := strconv.ParseInt(record[column], 10, 64); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.ReportMetric(3*benchTasks*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkTable reads a table with one row per job, which is sorted.
func BenchmarkTable(b *testing.B) {
	var text bytes.Buffer
	text.WriteString(phillyHeader)
	for i := range benchTasks {
		text.WriteString(strconv.Itoa(i) + "," + strconv.Itoa(i%1000) + ".5,1,vc\n")
	}
	folder := folderWith(text.Bytes())
	b.ReportAllocs()
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		jobs, _, err := readAll("philly", folder, trace.Options{})
		if err != nil || len(jobs) != benchTasks {
			b.Fatalf("%d jobs, %v", len(jobs), err)
		}
	}
	b.ReportMetric(benchTasks*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
